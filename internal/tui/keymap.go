package tui

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// keyPattern matches the names of keys that can be assigned: a character, a named key, or one of these with modifiers.
var keyPattern = regexp.MustCompile(`^((ctrl|alt|shift)\+)*(.|f[1-9]|f1[0-2]|enter|esc|tab|space|backspace|delete|insert|home|end|pgup|pgdown|up|down|left|right)$`)

// parseKeyName converts the display name of a key, such as ctrl-d or pgdn, to the terminal library's name.
func parseKeyName(text string) string {
	name := text
	if len(text) > 1 {
		name = strings.ReplaceAll(strings.ToLower(text), "-", "+")
	}
	switch name {
	case "pgdn":
		return "pgdown"
	case "del":
		return "delete"
	}
	return name
}

// checkKeys returns a *PreferenceError if a key is invalid, or if two actions of a screen have the same key.
func (a *App) checkKeys() error {
	known := map[string]bool{}
	for _, binding := range a.AllBindings() {
		known[binding.Name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(a.prefs.Keys)) {
		if !known[name] {
			return &PreferenceError{"keys." + name, fmt.Sprintf("unknown action %q", name), "actions: " + strings.Join(slices.Sorted(maps.Keys(known)), ", ")}
		}
		if err := checkKeyName("keys."+name, a.prefs.Keys[name]); err != nil {
			return err
		}
	}
	for i := range a.prefs.Commands {
		if err := checkKeyName(fmt.Sprintf("commands[%d].key", i), a.prefs.Commands[i].Key); err != nil {
			return err
		}
	}
	for _, screen := range a.screenNames() {
		if err := a.checkConflicts(screen); err != nil {
			return err
		}
	}
	return nil
}

func checkKeyName(path, key string) error {
	switch name := parseKeyName(key); {
	case name == "ctrl+c":
		return &PreferenceError{path, "ctrl-c always quits", "choose another key"}
	case !keyPattern.MatchString(name):
		return &PreferenceError{path, fmt.Sprintf("%q is not a valid key", key), "use a key such as x, X, ctrl-k, f5, space or pgdn"}
	}
	return nil
}

// checkConflicts checks that the keys from the settings have no other meaning on a screen.
func (a *App) checkConflicts(screen string) error {
	holders := map[string][]string{} // the actions of each key
	paths := map[string]string{}     // the setting that assigns a key
	for i := range a.prefs.Commands {
		paths[parseKeyName(a.prefs.Commands[i].Key)] = fmt.Sprintf("commands[%d].key", i)
	}
	for name, key := range a.prefs.Keys {
		paths[parseKeyName(key)] = "keys." + name
	}
	for _, binding := range a.screenKeys(screen) {
		for _, key := range binding.KeysWithAliases() {
			if !slices.Contains(holders[key], binding.Name) {
				holders[key] = append(holders[key], binding.Name)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(paths)) {
		if len(holders[key]) > 1 {
			return &PreferenceError{paths[key], fmt.Sprintf("key %s is assigned to more than one action on the screen %s: %s", KeyName(key), screen, strings.Join(holders[key], ", ")), "choose another key, or assign another key to the action that already uses this one"}
		}
	}
	return nil
}

// withCustomKeys replaces the keys of the actions to which the user has assigned another key.
func (a *App) withCustomKeys(bindings []screenapi.Binding) []screenapi.Binding {
	for i := range bindings {
		if key, ok := a.prefs.Keys[bindings[i].Name]; ok {
			bindings[i].Key, bindings[i].Also = parseKeyName(key), nil
		}
	}
	return bindings
}
