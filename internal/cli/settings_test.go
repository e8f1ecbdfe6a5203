package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/cli/iostreams"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file, env string // env is NAME=VALUE
		missing   bool
		want      Settings
		says      string // on the error stream
		fails     string
	}{
		"nothing is needed":                  {missing: true},
		"all there is":                       {file: "queue: research\ncompat: true\ncolor: never\ncolumns: {jobs: [name, phase]}\n", want: Settings{Queue: "research", Compat: true, Color: "never", Columns: map[string][]string{"jobs": {"name", "phase"}}}},
		"a variable goes before the file":    {file: "queue: research", env: "VCCTL_QUEUE=infer", want: Settings{Queue: "infer"}},
		"a variable without a file":          {missing: true, env: "VCCTL_COMPAT=1", want: Settings{Compat: true}},
		"an empty file":                      {file: ""},
		"a key that is not known is told":    {file: "quue: research\n", says: `unknown setting "quue" has no effect; did you mean "queue"?`},
		"a key that is close to none":        {file: "background: blue\n", says: "settings: queue, compat, color, columns"},
		"a file that is no YAML":             {file: "{", fails: "settings "},
		"a value of the wrong kind":          {file: "columns: [name]\n", fails: "settings "},
		"a variable that is neither":         {missing: true, env: "VCCTL_COMPAT=perhaps", fails: `VCCTL_COMPAT must be true or false, not "perhaps"`},
		"a file that is named must be there": {missing: true, env: "VCCTL_CONFIG=/nosuch/file", fails: "/nosuch/file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if !tc.missing {
				if err := os.MkdirAll(filepath.Join(dir, ".config", "vcctl"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, ".config", "vcctl", "config.yaml"), []byte(tc.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			streams, _, errOut := iostreams.TestStreams("", 0)
			streams.Env = func(name string) string {
				if variable, value, _ := strings.Cut(tc.env, "="); variable == name {
					return value
				}
				if name == "HOME" {
					return dir
				}
				return ""
			}
			got, err := NewFactory("vcctl", &streams).LoadSettings()
			if tc.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("error %v, want one with %q", err, tc.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, *got); diff != "" || !strings.Contains(errOut.String(), tc.says) || (tc.says == "") != (errOut.Len() == 0) {
				t.Errorf("said %q, want %q; settings (-want +got):\n%s", errOut, tc.says, diff)
			}
		})
	}
}

func TestWhereSettingsAre(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no home":            {nil, ""},
		"the home directory": {map[string]string{"HOME": "/h"}, "/h/.config/vcctl/config.yaml"},
		"XDG says elsewhere": {map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/vcctl/config.yaml"},
		"it is named":        {map[string]string{"HOME": "/h", "VCCTL_CONFIG": "/c.yaml"}, "/c.yaml"},
	} {
		streams, _, _ := iostreams.TestStreams("", 0)
		streams.Env = func(name string) string { return tc.env[name] }
		if got := NewFactory("vcctl", &streams).SettingsFile(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestChosenColumns(t *testing.T) {
	t.Parallel()
	all := []Column[string]{{Title: "NAME"}, {Title: "NODES", Wide: true}, {Title: "REASON"}}
	streams, _, _ := iostreams.TestStreams("", 0)
	f := NewFactory("vcctl", &streams)
	choose := func(titles ...string) (string, error) {
		f.settingsOnce.Do(func() {})
		f.settings = &Settings{Columns: map[string][]string{"jobs": titles}}
		columns, _, err := chosenColumns(f, "jobs", all)
		var got []string
		for _, column := range columns {
			if column.Wide && len(titles) > 0 {
				t.Errorf("column %s is chosen and still wide", column.Title)
			}
			got = append(got, column.Title)
		}
		return strings.Join(got, " "), err
	}
	if got, err := choose("reason", "Nodes", "name"); got != "REASON NODES NAME" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := choose(); got != "NAME NODES REASON" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := choose("nmae"); err == nil || !strings.Contains(err.Error(), `columns.jobs: unknown column "nmae"`) {
		t.Errorf("%v", err)
	}
}
