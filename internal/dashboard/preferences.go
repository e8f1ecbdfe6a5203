package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/usagemetrics"
	"github.com/vc-batch/vc/internal/usererror"
)

// readPreferences reads the section "dashboard" of the settings file. Errors name the file and the line.
func readPreferences(f *cli.Factory) (tui.Preferences, error) {
	if _, err := f.LoadSettings(); err != nil {
		return tui.Preferences{}, err
	}
	path, text := f.SettingsText()
	return parsePreferences(path, text)
}

// parsePreferences parses the section "dashboard" of a settings file. It rejects unknown settings, because a warning
// would not be visible in a full-screen dashboard.
func parsePreferences(path string, text []byte) (tui.Preferences, error) {
	var file struct {
		Dashboard tui.Preferences `yaml:"dashboard"`
		Other     map[string]any  `yaml:",inline"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err := decoder.Decode(&file)
	if errors.Is(err, io.EOF) {
		return tui.Preferences{}, nil
	}
	if err != nil {
		return tui.Preferences{}, explainYAMLError(path, err)
	}
	if invalid := checkPrometheus(file.Dashboard.Prometheus); invalid != nil {
		return tui.Preferences{}, locateInText(path, text, invalid)
	}
	return file.Dashboard, nil
}

// checkPrometheus returns the reason why the address of Prometheus is invalid, or nil.
func checkPrometheus(address string) *tui.PreferenceError {
	if address == "" {
		return nil
	}
	if _, _, err := usagemetrics.ParseAddress(address, ""); err != nil {
		return &tui.PreferenceError{Path: "prometheus", What: err.Error(), Hint: "for example https://prometheus.example.org or monitoring/prometheus:9090"}
	}
	return nil
}

// The errors of the YAML library about a field.
var (
	unknownField = regexp.MustCompile(`^line (\d+): field (\S+) not found in type (\S+)$`)
	wrongType    = regexp.MustCompile(`^line (\d+): cannot unmarshal \S+ ?(.*) into (\S+)$`)
)

// settingTypes maps the name of a type in the errors of the YAML library to the type.
var settingTypes = map[string]reflect.Type{
	"tui.Preferences": reflect.TypeFor[tui.Preferences](), "tui.SavedFilter": reflect.TypeFor[tui.SavedFilter](),
	"tui.CustomCommand": reflect.TypeFor[tui.CustomCommand](), "theme.Custom": reflect.TypeFor[theme.Custom](),
}

// explainYAMLError returns the first error of the YAML library with the file and line and a hint.
func explainYAMLError(path string, err error) error {
	first := err.Error()
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		first = typed.Errors[0]
	}
	if m := unknownField.FindStringSubmatch(first); m != nil {
		names := settingNames(settingTypes[m[3]])
		hint := "settings: " + strings.Join(names, ", ")
		if near := cli.FindNearest(m[2], names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return usererror.Errorf(hint, "settings %s:%s: unknown setting %q", path, m[1], m[2])
	}
	if m := wrongType.FindStringSubmatch(first); m != nil {
		return usererror.Errorf("see help settings for an example", "settings %s:%s: expected %s%s", path, m[1], describeType(m[3]), valueNote(m[2]))
	}
	return usererror.Errorf("see help settings for an example", "settings %s: %s", path, strings.TrimPrefix(first, "yaml: "))
}

// valueNote describes the value that has the wrong type, if the error contains it.
func valueNote(value string) string {
	if value == "" {
		return ""
	}
	return fmt.Sprintf(", not %q", strings.Trim(value, "`"))
}

// describeType describes a Go type of the settings in words.
func describeType(name string) string {
	switch {
	case name == "bool":
		return "true or false"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "map["), settingTypes[name] != nil:
		return "names with values"
	}
	return "text"
}

// settingNames returns the names of the fields of a struct in YAML.
func settingNames(of reflect.Type) []string {
	var names []string
	if of == nil {
		return nil
	}
	for i := range of.NumField() {
		names = append(names, of.Field(i).Tag.Get("yaml"))
	}
	return names
}

// locatePreferenceError adds the file and line to an error about a setting. It returns other errors unchanged.
func locatePreferenceError(f *cli.Factory, err error) error {
	var invalid *tui.PreferenceError
	if !errors.As(err, &invalid) {
		return err
	}
	path, text := f.SettingsText()
	return locateInText(path, text, invalid)
}

// locateInText returns the error about a setting with the file and line.
func locateInText(path string, text []byte, invalid *tui.PreferenceError) error {
	line := cli.FindLineOfPath(text, "dashboard."+invalid.Path)
	return usererror.Errorf(invalid.Hint, "settings %s:%d: dashboard.%s: %s", path, line, invalid.Path, invalid.What)
}

// runShellCommand runs one of the user's custom commands with sh.
func runShellCommand(ctx context.Context, call tui.CommandCall, in io.Reader, out, errOut io.Writer) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", call.Command) //nolint:gosec // the user's own command
	cmd.Env = append(os.Environ(), call.Variables...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errOut
	return cmd.Run()
}
