package tui

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Preferences holds the user's own settings of the dashboard. Its YAML is the section "dashboard" of the settings file.
type Preferences struct {
	// Theme is the theme that is used unless the command line specifies one.
	Theme string `yaml:"theme"`
	// Themes defines the user's custom themes by name.
	Themes map[string]theme.Custom `yaml:"themes"`
	// Slurm is true for Slurm's names of states and reasons.
	Slurm bool `yaml:"slurm"`
	// Compact is true for compact mode: text without boxes, bars and maps.
	Compact bool `yaml:"compact"`
	// Mouse is false to leave the mouse to the terminal, for example for selecting text. The default is true.
	Mouse *bool `yaml:"mouse"`
	// Columns and Sort arrange the table of a screen; see screenapi.Arrangement.
	Columns map[string][]string `yaml:"columns"`
	Sort    map[string][]string `yaml:"sort"`
	// Filters lists saved filters, which get tabs of their own.
	Filters []SavedFilter `yaml:"filters"`
	// Keys maps the name of an action to the key that starts it instead of the usual keys.
	Keys map[string]string `yaml:"keys"`
	// Commands lists the user's custom commands.
	Commands []CustomCommand `yaml:"commands"`
	// Prometheus is the address of a Prometheus server with the use of GPUs: a URL or NAMESPACE/SERVICE:PORT.
	Prometheus string `yaml:"prometheus"`
}

// SavedFilter is a filter with a name. It is shown as a tab.
type SavedFilter struct {
	Name string `yaml:"name"`
	// Screen is the screen to filter; it defaults to jobs.
	Screen string `yaml:"screen"`
	Filter string `yaml:"filter"`
}

// PreferenceError is the reason why a setting is invalid.
type PreferenceError struct {
	// Path is the path of the setting in the section, for example columns.jobs[2].
	Path string
	// What is the reason, and Hint what to write instead.
	What, Hint string
}

// Error returns the path, the reason and the hint.
func (e *PreferenceError) Error() string { return e.Path + ": " + e.What + "; " + e.Hint }

// UsesMouse reports whether the dashboard reacts to the mouse.
func (p *Preferences) UsesMouse() bool { return p.Mouse == nil || *p.Mouse }

// ThemeNames returns the names of the built-in themes and of the user's own.
func (p *Preferences) ThemeNames() []string {
	return append(theme.Names(), slices.Sorted(maps.Keys(p.Themes))...)
}

// mostTabs is the number of tabs that can be opened with a number key.
const mostTabs = 9

// applyPreferences checks the preferences, and applies those that do not change with a screen: the saved filters and the
// keys. It returns a *PreferenceError if one is invalid.
func (a *App) applyPreferences(p *Preferences) error {
	a.prefs = p
	if p.Slurm {
		a.ctx.Words = screenapi.SlurmWords
	}
	a.ctx.CustomKeys = map[string]string{}
	for name, key := range p.Keys {
		a.ctx.CustomKeys[name] = KeyName(parseKeyName(key))
	}
	if err := p.checkThemes(); err != nil {
		return err
	}
	if err := a.checkArrangements(); err != nil {
		return err
	}
	if err := a.addSavedFilters(); err != nil {
		return err
	}
	if err := a.checkCommands(); err != nil {
		return err
	}
	return a.checkKeys()
}

func (p *Preferences) checkThemes() error {
	for _, name := range slices.Sorted(maps.Keys(p.Themes)) {
		if slices.Contains(theme.Names(), name) {
			return &PreferenceError{"themes." + name, "a built-in theme already has this name", "choose another name"}
		}
		own := p.Themes[name]
		if field, reason := own.Check(); field != "" {
			what, hint, _ := strings.Cut(reason, "; ")
			return &PreferenceError{"themes." + name + "." + field, what, hint}
		}
	}
	if p.Theme != "" && !slices.Contains(p.ThemeNames(), p.Theme) {
		return &PreferenceError{"theme", fmt.Sprintf("unknown theme %q", p.Theme), "themes: " + strings.Join(p.ThemeNames(), ", ")}
	}
	return nil
}

// checkArrangements arranges a new screen of each kind to find invalid settings.
func (a *App) checkArrangements() error {
	sections := []struct {
		name   string
		values map[string][]string
	}{{"columns", a.prefs.Columns}, {"sort", a.prefs.Sort}}
	for _, section := range sections {
		for _, name := range slices.Sorted(maps.Keys(section.values)) {
			spec, isScreen := a.specs[name]
			if !isScreen {
				return &PreferenceError{section.name + "." + name, fmt.Sprintf("unknown screen %q", name), "screens: " + strings.Join(a.arrangedScreens(), ", ")}
			}
			screen, isArranged := spec.New("").(screenapi.Arranged)
			if !isArranged {
				return &PreferenceError{section.name + "." + name, "this screen has no table", "screens: " + strings.Join(a.arrangedScreens(), ", ")}
			}
			if err := a.arrange(name, screen); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrangedScreens returns the names of the screens that can be arranged.
func (a *App) arrangedScreens() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(a.specs)) {
		if _, ok := a.specs[name].New("").(screenapi.Arranged); ok {
			names = append(names, name)
		}
	}
	return names
}

// arrange applies the user's columns and order to a screen. The error is a *PreferenceError.
func (a *App) arrange(name string, screen screenapi.Arranged) error {
	how := screenapi.Arrangement{Columns: a.prefs.Columns[name], Sort: a.prefs.Sort[name]}
	err := screen.ArrangeTable(how)
	var invalid *screenapi.ArrangementError
	if !errors.As(err, &invalid) {
		return err
	}
	section := "columns"
	if invalid.InSort {
		section = "sort"
	}
	return &PreferenceError{fmt.Sprintf("%s.%s[%d]", section, name, invalid.Index), invalid.What, invalid.Hint}
}

// newScreen returns a new screen with the user's columns and order.
func (a *App) newScreen(spec screenapi.Spec, target string) screenapi.Screen {
	screen := spec.New(target)
	if arranged, ok := screen.(screenapi.Arranged); ok {
		_ = a.arrange(screen.Name(), arranged) // checkArrangements has accepted it
	}
	return screen
}

// addSavedFilters adds a tab for each saved filter.
func (a *App) addSavedFilters() error {
	for i, saved := range a.prefs.Filters {
		path := fmt.Sprintf("filters[%d]", i)
		screen := saved.Screen
		if screen == "" {
			screen = screenapi.Jobs
		}
		spec, ok := a.specs[screen]
		var filterer screenapi.Filterer
		if ok {
			filterer, ok = spec.New("").(screenapi.Filterer)
		}
		switch {
		case !ok:
			return &PreferenceError{path + ".screen", fmt.Sprintf("screen %q does not exist or has no filter", screen), "use a screen with a filter, for example jobs or nodes"}
		case saved.Name == "":
			return &PreferenceError{path, "the filter has no name", "add name: TEXT, where TEXT is the title of the tab"}
		case slices.ContainsFunc(a.tabs, func(tab screenapi.Spec) bool { return strings.EqualFold(tab.Tab, saved.Name) }):
			return &PreferenceError{path + ".name", fmt.Sprintf("a tab named %q already exists", saved.Name), "choose another name"}
		case saved.Filter == "":
			return &PreferenceError{path, "the filter is empty", "add filter: TEXT, for example st:f since:1d"}
		case len(a.tabs) == mostTabs:
			return &PreferenceError{path, fmt.Sprintf("the dashboard supports at most %d tabs", mostTabs), "remove some filters"}
		}
		if err := filterer.SetFilter(&a.ctx, saved.Filter); err != nil {
			return &PreferenceError{path + ".filter", err.Error(), "press ? in the dashboard to see the filter syntax"}
		}
		tab := screenapi.Spec{Name: "filter " + saved.Name, Tab: saved.Name, ShortTab: saved.Name, Number: strconv.Itoa(len(a.tabs) + 1), New: spec.New, Filter: saved.Filter}
		a.specs[tab.Name] = tab
		a.tabs = append(a.tabs, tab)
	}
	return nil
}
