package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/usererror"
)

// Settings holds the user's preferences from an optional file; see SettingsFile. An environment variable overrides
// the file, and a flag overrides both.
type Settings struct {
	// Queue is the default queue of `job run`; see VCCTL_QUEUE.
	Queue string `json:"queue,omitempty"`
	// Compat makes lists print the tables of Volcano's vcctl; see VCCTL_COMPAT.
	Compat bool `json:"compat,omitempty"`
	// Color is auto, always or never; see VCCTL_COLOR.
	Color string `json:"color,omitempty"`
	// Columns maps the kind of a list, such as jobs or queues, to the titles of the columns to show.
	Columns map[string][]string `json:"columns,omitempty"`
}

// settingNames lists the keys of the settings file. The section dashboard is read by the dashboard.
var settingNames = []string{"queue", "compat", "color", "columns", "dashboard"}

// SettingsFile returns the path of the settings file: $VCCTL_CONFIG, or vcctl/config.yaml below $XDG_CONFIG_HOME or
// ~/.config. It returns "" if none of these directories is known.
func (f *Factory) SettingsFile() string {
	if path := f.Streams.Env("VCCTL_CONFIG"); path != "" {
		return path
	}
	dir := f.Streams.Env("XDG_CONFIG_HOME")
	if home := f.Streams.Env("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".config")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "vcctl", "config.yaml")
}

// LoadSettings reads the settings on first use and caches them.
func (f *Factory) LoadSettings() (*Settings, error) {
	f.settingsOnce.Do(func() {
		f.settings, f.settingsErr = f.readSettings()
	})
	return f.settings, f.settingsErr
}

// SettingsText returns the path and the text of the settings file; the text is empty if there is no file. LoadSettings
// must have succeeded.
func (f *Factory) SettingsText() (path string, text []byte) { return f.SettingsFile(), f.settingsText }

func (f *Factory) readSettings() (*Settings, error) {
	s := &Settings{}
	path := f.SettingsFile()
	text, err := os.ReadFile(path)
	switch {
	case path == "", errors.Is(err, fs.ErrNotExist) && f.Streams.Env("VCCTL_CONFIG") == "":
	case err != nil:
		return nil, usererror.Errorf("set VCCTL_CONFIG to the path of a settings file, or unset it", "settings: %v", err)
	default:
		if err := f.parseSettings(path, text, s); err != nil {
			return nil, err
		}
		f.settingsText = text
	}
	if queue := f.Streams.Env("VCCTL_QUEUE"); queue != "" {
		s.Queue = queue
	}
	if compat := f.Streams.Env("VCCTL_COMPAT"); compat != "" {
		if s.Compat, err = strconv.ParseBool(compat); err != nil {
			return nil, usererror.Errorf("VCCTL_COMPAT=true or false", "environment variable VCCTL_COMPAT must be true or false, not %q", compat)
		}
	}
	return s, nil
}

// parseSettings parses the settings file. It ignores unknown keys but prints a warning about them.
func (f *Factory) parseSettings(path string, text []byte, s *Settings) error {
	var found map[string]any
	if err := yaml.Unmarshal(text, &found); err != nil {
		return usererror.Errorf("use YAML, for example queue: research", "settings %s: %v", path, err)
	}
	for _, name := range sortedNames(found) {
		if slices.Contains(settingNames, name) {
			continue
		}
		hint := "settings: " + strings.Join(settingNames, ", ")
		if near := FindNearest(name, settingNames); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		f.Warnf("settings %s:%d: unknown setting %q has no effect; %s", path, FindLineOfPath(text, name), name, hint)
	}
	if err := yaml.Unmarshal(text, s); err != nil {
		return usererror.Errorf("use the correct types, for example columns: {jobs: [name, phase, reason]}", "settings %s: %v", path, err)
	}
	return nil
}

func sortedNames(of map[string]any) []string {
	var names []string
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// UsesVolcanoTables reports whether the settings make lists print Volcano's tables even without a flag. It ignores
// errors in the settings, which are reported by the commands that need them.
func (f *Factory) UsesVolcanoTables() bool {
	s, err := f.LoadSettings()
	return err == nil && s.Compat
}

// IsColumnChosen reports whether the settings select a column for a list.
func (f *Factory) IsColumnChosen(kind, title string) bool {
	s, err := f.LoadSettings()
	return err == nil && slices.ContainsFunc(s.Columns[kind], func(chosen string) bool { return strings.EqualFold(chosen, title) })
}

// chosenColumns returns the columns of a list that the settings select, in the order of the settings, or all columns if
// the settings select none.
func chosenColumns[T any](f *Factory, kind string, all []Column[T]) (columns []Column[T], chosen bool, err error) {
	s, err := f.LoadSettings()
	if err != nil {
		return nil, false, err
	}
	for _, title := range s.Columns[kind] {
		at := slices.IndexFunc(all, func(column Column[T]) bool { return strings.EqualFold(column.Title, title) })
		if at < 0 {
			var titles []string
			for _, column := range all {
				titles = append(titles, strings.ToLower(column.Title))
			}
			return nil, false, usererror.Errorf("columns: "+strings.Join(titles, ", "), "settings %s: columns.%s: unknown column %q", f.SettingsFile(), kind, title)
		}
		column := all[at]
		column.Wide = false
		columns = append(columns, column)
	}
	if columns == nil {
		return all, false, nil
	}
	return columns, true, nil
}
