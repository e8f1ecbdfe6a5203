package scrontab

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/usererror"
)

func TestParseReadsATable(t *testing.T) {
	t.Parallel()
	entries, err := ParseTable(`# mine
DIR="/data/it's"
#SCRON -t 10 --mem=1G  # small
#SCRON -J clean
*/5 0-6 * * mon   /home/mei/clean.sh  --all  "$DIR"

@fika echo tea
@hourly	date
@hourly	date
`, "mei")
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		Line                              int
		Schedule, Command, Title, Options string
	}
	var got []brief
	suffixes := map[string]bool{}
	for _, e := range entries {
		got = append(got, brief{e.Line, e.Schedule, e.Command, e.DefaultTitle(), strings.Join(directive.WordTexts(e.Options), " ")})
		suffixes[e.Suffix] = true
	}
	want := []brief{
		{5, "*/5 0-6 * * mon", `/home/mei/clean.sh  --all  "$DIR"`, "clean.sh", "-t 10 --mem=1G -J clean"},
		{7, "0 15 * * *", "echo tea", "echo", ""}, {8, "@hourly", "date", "date", ""}, {9, "@hourly", "date", "date", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(suffixes) != 4 {
		t.Errorf("entries share names: %v", suffixes)
	}
	if script := "#!/bin/sh\n# This job is an entry of scrontab.\nexport DIR='/data/it'\\''s'\necho tea\n"; entries[1].BatchScript() != script {
		t.Errorf("%q", entries[1].BatchScript())
	}
}

// The name depends on the content of an entry and on the user, but not on the entry's position.
func TestAnEntryKeepsItsName(t *testing.T) {
	t.Parallel()
	name := func(text, user string, at int) string {
		entries, err := ParseTable(text, user)
		if err != nil {
			t.Fatal(err)
		}
		return entries[at].Suffix
	}
	first := name("@daily date\n", "mei", 0)
	if name("# new\n@daily ls\n\n@daily  date\n", "mei", 1) != first {
		t.Error("it has another name at another place")
	}
	for what, other := range map[string]string{"the command": "@daily dates\n", "the time": "@weekly date\n", "the options": "#SCRON -t5\n@daily date\n", "a variable": "A=1\n@daily date\n"} {
		if name(other, "mei", 0) == first {
			t.Errorf("%s changed and the name did not", what)
		}
	}
	if name("@daily date\n", "ann", 0) == first {
		t.Error("two users share a name")
	}
}

func TestParseReportsAllMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"* * * * *\n":             "line 1: the command is missing",
		"61 * * * * date\n":       `line 1: "61 * * * *" is not a valid schedule`,
		"\n@never date\n":         `line 2: "@never" is not a valid schedule`,
		"@reboot date\n":          "line 1: @reboot is not supported",
		"date\n":                  "line 1: the command is missing",
		"#SCRON -t5\n":            "line 1: no entry follows the options",
		"#SCRON -J 'a\n@daily x":  "line 1: Unmatched `'` in [-J 'a]",
		"x\ny\n@daily date\n":     "line 2: the command is missing",
		"TZ=UTC\nTZ * * * * date": `line 2: "TZ * * * *" is not a valid schedule`,
	} {
		_, err := ParseTable(text, "mei")
		if err == nil || !strings.Contains(err.Error(), want) || usererror.FromError(err).Hint == "" {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestObjectNamesOfUsersDiffer(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{"mei": "mei", "mei-2": "mei-2", "Mei": "mei-c0e0ee53", "a.b": "a-b-", "a-b": "a-b", "": "e3b0c442", strings.Repeat("x", 60): strings.Repeat("x", 40) + "-"} {
		if got := ObjectName(user); !strings.HasPrefix(got, want) || (user == want) != (got == user) {
			t.Errorf("%q: %q, want %q", user, got, want)
		}
	}
}
