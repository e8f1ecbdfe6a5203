package tui

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// CustomCommand is a shell command from the settings file. The selected row is in its environment: $KIND, $NAMESPACE and
// $NAME; $CONTEXT is the context of the kubeconfig, and $FILTER the filter of the screen.
type CustomCommand struct {
	Name string `yaml:"name"`
	Key  string `yaml:"key"`
	// Description is shown in the help; it defaults to the command.
	Description string `yaml:"description"`
	// Screens lists the screens on which the key works; the default is all screens.
	Screens []string `yaml:"screens"`
	Command string   `yaml:"command"`
	// Confirm asks before the command runs. Dangerous disables the command with --readonly.
	Confirm   bool `yaml:"confirm"`
	Dangerous bool `yaml:"dangerous"`
	// Background runs the command without the terminal; the last line of its output is shown.
	Background bool `yaml:"background"`
}

// CommandCall is a command line for sh, and the variables to add to its environment, as NAME=VALUE.
type CommandCall struct {
	Command   string
	Variables []string
}

// RunCommand runs a command until it ends.
type RunCommand func(ctx context.Context, call CommandCall, in io.Reader, out, errOut io.Writer) error

// rowVariable matches the variables that need a selected row.
var rowVariable = regexp.MustCompile(`\$\{?(NAME|NAMESPACE|KIND)\b`)

// checkCommands returns a *PreferenceError if one of the user's commands is invalid.
func (a *App) checkCommands() error {
	for i := range a.prefs.Commands {
		c := &a.prefs.Commands[i]
		path := fmt.Sprintf("commands[%d]", i)
		switch {
		case c.Name == "":
			return &PreferenceError{path, "the command has no name", "add name: TEXT"}
		case c.Command == "":
			return &PreferenceError{path, "the entry has no command to run", `add a command, for example command: kubectl describe vcjob "$NAME" -n "$NAMESPACE" | less`}
		case c.Key == "":
			return &PreferenceError{path, "the command has no key", "add key: KEY, for example ctrl-o"}
		}
		for n, screen := range c.Screens {
			if _, ok := a.specs[screen]; !ok {
				return &PreferenceError{fmt.Sprintf("%s.screens[%d]", path, n), fmt.Sprintf("unknown screen %q", screen), "screens: " + strings.Join(a.screenNames(), ", ")}
			}
		}
	}
	return nil
}

// screenNames returns the names of all screens except saved filters.
func (a *App) screenNames() []string {
	var names []string
	for name, spec := range a.specs {
		if spec.Filter == "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// customKeys returns the keys of the user's commands on a screen.
func (a *App) customKeys(screen string) []screenapi.Binding {
	var keys []screenapi.Binding
	for i := range a.prefs.Commands {
		c := &a.prefs.Commands[i]
		if len(c.Screens) > 0 && !slices.Contains(c.Screens, screen) {
			continue
		}
		description := c.Description
		if description == "" {
			description = "run " + c.Command
		}
		keys = append(keys, screenapi.Binding{
			Screen: screen, Key: parseKeyName(c.Key), Name: c.Name, Help: description, Writes: c.Dangerous, Guard: c.refusalReason,
			Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect { return a.startCommand(c, ctx, s) },
		})
	}
	return keys
}

// refusalReason returns the reason why a command cannot run now, or "".
func (c *CustomCommand) refusalReason(_ *screenapi.Context, s screenapi.Screen) string {
	if !rowVariable.MatchString(c.Command) {
		return ""
	}
	if selector, ok := s.(screenapi.Selector); ok {
		if _, ok := selector.Selection(); ok {
			return ""
		}
	}
	return c.Name + " needs a selected row"
}

// startCommand returns the effects that run a command.
func (a *App) startCommand(c *CustomCommand, ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
	call := CommandCall{Command: c.Command, Variables: []string{"CONTEXT=" + ctx.Snap.Cluster, "FILTER=" + a.filters[s]}}
	if selector, ok := s.(screenapi.Selector); ok {
		row, _ := selector.Selection()
		call.Variables = append(call.Variables, "KIND="+row.Kind, "NAMESPACE="+row.Namespace, "NAME="+row.Name)
	}
	var effect screenapi.Effect = screenapi.Shell{Name: c.Name, Do: func(ctx context.Context, in io.Reader, out, errOut io.Writer) (string, error) {
		return "", a.runCommand(ctx, call, in, out, errOut)
	}}
	if c.Background {
		effect = screenapi.Run{Name: c.Name, Do: func(ctx context.Context) (string, error) {
			var output strings.Builder
			err := a.runCommand(ctx, call, strings.NewReader(""), &output, &output)
			last := lastLine(output.String())
			if err != nil && last != "" {
				return "", fmt.Errorf("%w: %s", err, last)
			}
			return c.Name + ": " + last, err
		}}
	}
	if !c.Confirm {
		return []screenapi.Effect{effect}
	}
	return []screenapi.Effect{screenapi.Ask{Question: "Run " + c.Name + "?", Lines: append([]string{c.Command}, setVariables(call.Variables)...), Then: []screenapi.Effect{effect}}}
}

// setVariables returns the variables that have a value.
func setVariables(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(variable string) bool { return strings.HasSuffix(variable, "=") })
}

// lastLine returns the last line of a text that is not blank, or "done" if there is none.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	return "done"
}
