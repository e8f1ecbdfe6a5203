package screens_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// startPreferring returns a dashboard with preferences, after the keys were pressed.
func startPreferring(t *testing.T, p tui.Preferences, run tui.RunCommand, keys ...string) *tui.App {
	t.Helper()
	app, err := tuitest.StartWithPreferences(t, screens.AllScreenSpecs(), "normal", tuitest.Size{W: 140, H: 32}, tui.Settings{Colors: theme.TrueColor, Preferences: p, RunCommand: run})
	if err != nil {
		t.Fatal(err)
	}
	tuitest.KeyPresser(keys...)(app)
	return app
}

// frameLines returns the lines of the current frame without blanks at their ends.
func frameLines(app *tui.App) []string {
	var lines []string
	for line := range strings.Lines(app.Draw().Text()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

func TestColumnsAndOrderComeFromThePreferences(t *testing.T) {
	t.Parallel()
	app := startPreferring(t, tui.Preferences{
		Columns: map[string][]string{"jobs": {"name", "GPU", "PHASE:.status.state.phase", "BY:.metadata.nosuch"}},
		Sort:    map[string][]string{"jobs": {"-gpu", "name"}},
	}, nil, "2")
	lines := frameLines(app)
	if want := []string{"NAME↑", "GPU↓", "PHASE", "BY"}; !cmp.Equal(want, strings.Fields(lines[2])) {
		t.Errorf("heading %q, want %q", lines[2], want)
	}
	if want := []string{"▸", "llama-sft-70b", "128", "Running", "-"}; !cmp.Equal(want, strings.Fields(lines[3])) {
		t.Errorf("first row %q, want %q", lines[3], want)
	}
}

func TestASavedFilterIsATabAndKeepsItsFilter(t *testing.T) {
	t.Parallel()
	app := startPreferring(t, tui.Preferences{Filters: []tui.SavedFilter{{Name: "Waiting", Filter: "st:pd"}, {Name: "Cordoned", Screen: "nodes", Filter: "state:drain"}}}, nil, "6")
	all := strings.Join(frameLines(app), "\n")
	if !strings.Contains(all, "[6]Waiting   7 Cordoned") || !strings.Contains(all, "/ st:pd") || strings.Contains(all, "llama-sft-70b") {
		t.Errorf("the tab does not show waiting jobs:\n%s", all)
	}
	tuitest.KeyPresser("/", "x", "enter", "esc")(app)
	if all := strings.Join(frameLines(app), "\n"); !strings.Contains(all, "/ st:pd ") {
		t.Errorf("esc does not restore the filter of the tab:\n%s", all)
	}
	tuitest.KeyPresser("2")(app)
	if all := strings.Join(frameLines(app), "\n"); strings.Contains(all, "st:pd") || !strings.Contains(all, "llama-sft-70b") {
		t.Errorf("the filter of the tab also applies to Jobs:\n%s", all)
	}
}

func TestAnActionMovesToTheUsersKey(t *testing.T) {
	t.Parallel()
	app := startPreferring(t, tui.Preferences{Keys: map[string]string{"cancel": "ctrl-k"}}, nil, "2", "x")
	if all := strings.Join(frameLines(app), "\n"); strings.Contains(all, "Cancel job") || !strings.Contains(all, "ctrl-k cancel") {
		t.Errorf("the usual key still works, or the footer does not show the new one:\n%s", all)
	}
	tuitest.KeyPresser("ctrl+k")(app)
	if all := strings.Join(frameLines(app), "\n"); !strings.Contains(all, "Cancel job") {
		t.Errorf("ctrl-k does not cancel:\n%s", all)
	}
}

func TestACustomCommandRunsWithTheSelectedRow(t *testing.T) {
	t.Parallel()
	var calls []tui.CommandCall
	run := func(_ context.Context, call tui.CommandCall, _ io.Reader, out, _ io.Writer) error {
		calls = append(calls, call)
		_, err := io.WriteString(out, "first\nlast line\n")
		return err
	}
	commands := []tui.CustomCommand{{Name: "who", Key: "ctrl-o", Command: "echo $NAME", Background: true, Confirm: true}, {Name: "note", Key: "f5", Command: "date", Screens: []string{"queues"}, Background: true}}
	app := startPreferring(t, tui.Preferences{Commands: commands, Sort: map[string][]string{"jobs": {"-gpu"}}}, run, "2", "f5", "ctrl+o", "n")
	tuitest.AnswerRequests(app)
	if calls != nil {
		t.Fatalf("ran without confirmation, or on another screen: %v", calls)
	}
	tuitest.KeyPresser("ctrl+o", "y")(app)
	tuitest.AnswerRequests(app)
	want := []tui.CommandCall{{Command: "echo $NAME", Variables: []string{"CONTEXT=prod-gpu", "FILTER=", "KIND=job", "NAMESPACE=nlp", "NAME=llama-sft-70b"}}}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if all := strings.Join(frameLines(app), "\n"); !strings.Contains(all, "who: last line") {
		t.Errorf("the output is not shown:\n%s", all)
	}
}

func TestACustomThemeReplacesColors(t *testing.T) {
	t.Parallel()
	own := theme.Custom{Base: "dark", Colors: map[string]string{"running": "#010203"}}
	app := startPreferring(t, tui.Preferences{Theme: "mine", Themes: map[string]theme.Custom{"mine": own}}, nil)
	if code := app.Context().Theme.Open(theme.Running); !strings.Contains(code, "1;2;3") {
		t.Errorf("running is %q", code)
	}
	if code := app.Context().Theme.Open(theme.Failed); strings.Contains(code, "1;2;3") || code == "" {
		t.Errorf("failed is %q", code)
	}
}

func TestInvalidPreferencesAreRejectedWithTheirPath(t *testing.T) {
	t.Parallel()
	lists := func(screen string, entries ...string) map[string][]string {
		return map[string][]string{screen: entries}
	}
	cases := map[string]struct {
		p          tui.Preferences
		path, text string
	}{
		"unknown theme":            {tui.Preferences{Theme: "darkk"}, "theme", "high-contrast"},
		"built-in theme":           {tui.Preferences{Themes: map[string]theme.Custom{"dark": {}}}, "themes.dark", "built-in"},
		"unknown base":             {tui.Preferences{Themes: map[string]theme.Custom{"a": {Base: "b"}}}, "themes.a.base", "dark, light"},
		"unknown role":             {tui.Preferences{Themes: map[string]theme.Custom{"a": {Colors: map[string]string{"runing": "1"}}}}, "themes.a.colors.runing", "running"},
		"no colour":                {tui.Preferences{Themes: map[string]theme.Custom{"a": {Colors: map[string]string{"running": "256"}}}}, "themes.a.colors.running", "0 to 255"},
		"unknown screen":           {tui.Preferences{Columns: lists("jobz", "name")}, "columns.jobz", "jobs, nodes, queues"},
		"screen without a table":   {tui.Preferences{Sort: lists("document", "name")}, "sort.document", "jobs, nodes, queues"},
		"unknown column":           {tui.Preferences{Columns: lists("jobs", "name", "nam")}, "columns.jobs[1]", "jobid"},
		"column listed twice":      {tui.Preferences{Columns: lists("jobs", "name", "NAME")}, "columns.jobs[1]", "twice"},
		"bad JSONPath":             {tui.Preferences{Columns: lists("queues", "A:.x[")}, "columns.queues[0]", "TITLE:JSONPATH"},
		"no title":                 {tui.Preferences{Columns: lists("jobs", ":.metadata.name")}, "columns.jobs[0]", "TITLE:JSONPATH"},
		"rows without fields":      {tui.Preferences{Columns: lists("events", "A:.x")}, "columns.events[0]", "screens jobs and queues"},
		"column without an order":  {tui.Preferences{Sort: lists("nodes", "-jobs")}, "sort.nodes[0]", "node"},
		"too many to sort by":      {tui.Preferences{Sort: lists("jobs", "name", "queue", "user", "gpu")}, "sort.jobs[3]", "3"},
		"filter without a name":    {tui.Preferences{Filters: []tui.SavedFilter{{Filter: "st:f"}}}, "filters[0]", "name: TEXT"},
		"filter named like a tab":  {tui.Preferences{Filters: []tui.SavedFilter{{Name: "jobs", Filter: "st:f"}}}, "filters[0].name", "another name"},
		"empty filter":             {tui.Preferences{Filters: []tui.SavedFilter{{Name: "a"}}}, "filters[0]", "filter: TEXT"},
		"invalid filter":           {tui.Preferences{Filters: []tui.SavedFilter{{Name: "a", Filter: "zz:1"}}}, "filters[0].filter", "zz"},
		"filter of no screen":      {tui.Preferences{Filters: []tui.SavedFilter{{Name: "a", Screen: "job list", Filter: "x"}}}, "filters[0].screen", "jobs"},
		"unknown action":           {tui.Preferences{Keys: map[string]string{"cancl": "k"}}, "keys.cancl", "cancel"},
		"not a key":                {tui.Preferences{Keys: map[string]string{"cancel": "ctrl-zz"}}, "keys.cancel", "ctrl-k"},
		"key that always quits":    {tui.Preferences{Keys: map[string]string{"cancel": "ctrl-c"}}, "keys.cancel", "another key"},
		"key of another action":    {tui.Preferences{Keys: map[string]string{"cancel": "j"}}, "keys.cancel", "down"},
		"command without a name":   {tui.Preferences{Commands: []tui.CustomCommand{{Key: "f5", Command: "date"}}}, "commands[0]", "name: TEXT"},
		"command without a key":    {tui.Preferences{Commands: []tui.CustomCommand{{Name: "a", Command: "date"}}}, "commands[0]", "key: KEY"},
		"command without text":     {tui.Preferences{Commands: []tui.CustomCommand{{Name: "a", Key: "f5"}}}, "commands[0]", "for example command: kubectl describe"},
		"command of no screen":     {tui.Preferences{Commands: []tui.CustomCommand{{Name: "a", Key: "f5", Command: "date", Screens: []string{"job list"}}}}, "commands[0].screens[0]", "overview"},
		"command with a taken key": {tui.Preferences{Commands: []tui.CustomCommand{{Name: "a", Key: "x", Command: "date"}}}, "commands[0].key", "cancel"},
		"two commands on one key":  {tui.Preferences{Commands: []tui.CustomCommand{{Name: "a", Key: "f5", Command: "date"}, {Name: "b", Key: "f5", Command: "date"}}}, "commands[1].key", "a, b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := tuitest.StartWithPreferences(t, screens.AllScreenSpecs(), "empty", tuitest.Size{W: 120, H: 40}, tui.Settings{Preferences: tc.p})
			var invalid *tui.PreferenceError
			if !errors.As(err, &invalid) || invalid.Path != tc.path || !strings.Contains(invalid.Error(), tc.text) || invalid.Hint == "" {
				t.Errorf("error %v, want the path %s and %q", err, tc.path, tc.text)
			}
		})
	}
}
