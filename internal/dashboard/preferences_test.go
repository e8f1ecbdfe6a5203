package dashboard

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/usererror"
)

func TestPreferencesAreTheSectionOfTheSettingsFile(t *testing.T) {
	t.Parallel()
	const text = `queue: research
columns: {jobs: [name]}
dashboard:
  theme: ocean
  themes: {ocean: {base: light, colors: {running: "#00d7ff"}}}
  mouse: false
  columns: {jobs: [jobid, "TEAM:.metadata.labels.team"]}
  sort: {jobs: [-gpu, name]}
  filters: [{name: Failed, filter: "st:f"}]
  keys: {cancel: ctrl-k}
  commands: [{name: pods, key: ctrl-o, screens: [jobs], command: kubectl get pods, background: true}]
`
	got, err := parsePreferences("config.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	isOff := false
	want := tui.Preferences{
		Theme: "ocean", Themes: got.Themes, Mouse: &isOff,
		Columns: map[string][]string{"jobs": {"jobid", "TEAM:.metadata.labels.team"}}, Sort: map[string][]string{"jobs": {"-gpu", "name"}},
		Filters: []tui.SavedFilter{{Name: "Failed", Filter: "st:f"}}, Keys: map[string]string{"cancel": "ctrl-k"},
		Commands: []tui.CustomCommand{{Name: "pods", Key: "ctrl-o", Screens: []string{"jobs"}, Command: "kubectl get pods", Background: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("preferences (-want +got):\n%s", diff)
	}
	if own := got.Themes["ocean"]; own.Base != "light" || own.Colors["running"] != "#00d7ff" {
		t.Errorf("theme %+v", own)
	}
}

func TestAnInvalidPreferenceIsRejectedWithItsLine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, what, hint string }{
		"no file":                 {"", "", ""},
		"no section":              {"queue: research\n", "", ""},
		"a misspelled setting":    {"dashboard:\n  theem: dark\n", `config.yaml:2: unknown setting "theem"`, `did you mean "theme"?`},
		"an unknown setting":      {"dashboard:\n  filters:\n  - name: x\n    zoom: 3\n", `config.yaml:4: unknown setting "zoom"`, "settings: name, screen, filter"},
		"a value of a wrong type": {"dashboard:\n  mouse: perhaps\n", `config.yaml:2: expected true or false, not "perhaps"`, "help settings"},
		"a list for names":        {"dashboard:\n  columns: [a]\n", "config.yaml:2: expected names with values", "help settings"},
		"an invalid address":      {"dashboard:\n  mouse: true\n  prometheus: prom:9090\n", `config.yaml:3: dashboard.prometheus: "prom:9090" is neither a URL nor a service`, "monitoring/prometheus:9090"},
		"text for a list":         {"dashboard:\n  filters: failed\n", `config.yaml:2: expected a list, not "failed"`, "help settings"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parsePreferences("config.yaml", []byte(tc.text))
			if tc.what == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.what) || !strings.Contains(usererror.FromError(err).Hint, tc.hint) {
				t.Errorf("error %v, want %q and the hint %q", err, tc.what, tc.hint)
			}
		})
	}
}

func TestACustomCommandGetsTheSelectedRowInItsEnvironment(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	call := tui.CommandCall{Command: `echo "$NAMESPACE/$NAME"; exit 3`, Variables: []string{"NAMESPACE=nlp", `NAME=a"; rm`}}
	err := runShellCommand(t.Context(), call, strings.NewReader(""), &out, &errOut)
	if out.String() != "nlp/a\"; rm\n" || err == nil || !strings.Contains(err.Error(), "3") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func FuzzPreferences(f *testing.F) {
	f.Add([]byte("dashboard:\n  columns: {jobs: [jobid]}\n"))
	f.Add([]byte("dashboard: [1, 2]\n"))
	f.Add([]byte("dashboard: &a {theme: *a}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := parsePreferences("config.yaml", text); err != nil && !strings.Contains(err.Error(), "config.yaml") {
			t.Errorf("the error does not name the file: %v", err)
		}
	})
}
