package getopt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// table contains options of every kind.
var table = Table{Program: "sbatch", Operands: "SCRIPT", Stop: true, Options: []Option{
	{Long: "nodes", Short: 'N', Arg: Required, Value: "N", Help: "Number of nodes", Group: "Size"},
	{Long: "ntasks", Short: 'n', Arg: Required, Value: "N"},
	{Long: "ntasks-per-node", Arg: Required, Value: "N"},
	{Long: "partition", Short: 'p', Arg: Required, Value: "NAME"},
	{Long: "exclusive", Arg: Optional, Value: "WHO"},
	{Long: "no-kill", Short: 'k', Arg: Optional, Value: "off"},
	{Long: "hold", Short: 'H', Help: "Submit it held"},
	{Long: "verbose", Short: 'v'},
	{Long: "cpus-per-task", Short: 'c', Arg: Required, Value: "N"},
	{Long: "cpus-per-gpu", Arg: Required, Value: "N"},
	{Long: "namespace", Arg: Required, Value: "NAME", Exact: true},
	{Long: "partitions", Short: 'P', Arg: Required, Value: "NAME", Hidden: true, Alias: "partition"},
}}

// line formats the result of parsing as text.
func line(p Parsed) string {
	var words []string
	for _, g := range p.Given {
		word := g.Name
		if g.HasValue {
			word += "=" + g.Value
		}
		words = append(words, word)
	}
	return strings.TrimSpace(strings.Join(words, " ") + " | " + strings.Join(p.Operands, " "))
}

func TestLinesThatAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"--nodes=2":        "nodes=2 |",
		"--nodes 2":        "nodes=2 |",
		"-N 2":             "nodes=2 |",
		"-N2":              "nodes=2 |",
		"-HvN2":            "hold verbose nodes=2 |",
		"-HN 2 -v":         "hold nodes=2 verbose |",
		"--part=gpu":       "partition=gpu |",
		"--p gpu":          "partition=gpu |",
		"--partitions=gpu": "partition=gpu |",
		"-Pgpu":            "partition=gpu |",
		"--ntasks=2":       "ntasks=2 |",
		"--ntasks- 2":      "ntasks-per-node=2 |",
		"--exclusive=user": "exclusive=user |",
		"--exclusive user": "exclusive | user",
		"-k off":           "no-kill | off",
		"-koff":            "no-kill=off |",
		"--no-kill=":       "no-kill= |",
		"--nodes=":         "nodes= |",
		"--nodes --hold":   "nodes=--hold |",
		"-v -v -vv":        "verbose verbose verbose verbose |",
		"-N2 run.sh -n 4":  "nodes=2 | run.sh -n 4",
		"-N2 -- -n 4":      "nodes=2 | -n 4",
		"-N2 - -n":         "nodes=2 | - -n",
		"--namespace x":    "namespace=x |",
		"":                 "|",
	} {
		got, err := table.ParseArguments(strings.Fields(text))
		if err != nil || line(got) != want {
			t.Errorf("%q is read as %q, %v; want %q", text, line(got), err, want)
		}
	}
	permuting := table
	permuting.Stop = false
	got, err := permuting.ParseArguments(strings.Fields("a -N2 b -- -v"))
	if want := "nodes=2 | a b -v"; err != nil || line(got) != want {
		t.Errorf("without +: %q, %v; want %q", line(got), err, want)
	}
}

func TestLinesThatAreNot(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"--foo":      "unrecognized option '--foo'",
		"--foo=2":    "unrecognized option '--foo=2'",
		"--n":        "option '--n' is ambiguous; possibilities: '--nodes' '--ntasks' '--ntasks-per-node' '--no-kill'",
		"--cpus=4":   "option '--cpus=4' is ambiguous; possibilities: '--cpus-per-task' '--cpus-per-gpu'",
		"--nodes":    "option '--nodes' requires an argument",
		"--hold=yes": "option '--hold' doesn't allow an argument",
		"-Z":         "invalid option -- 'Z'",
		"-N":         "option requires an argument -- 'N'",
		"-HZ":        "invalid option -- 'Z'",
		"--namesp x": "unrecognized option '--namesp'",
		"--=x":       "unrecognized option '--=x'",
	} {
		got, err := table.ParseArguments(strings.Fields(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q is read as %q, %v; want %s", text, line(got), err, want)
		}
	}
}

func TestWhatIsFoundInWhatWasGiven(t *testing.T) {
	t.Parallel()
	p, err := table.ParseArguments(strings.Fields("-p a --part b -v run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	last, given := p.LastValue("partition")
	if last != "b" || !given || p.CountOf("verbose") != 1 || p.Has("hold") || cmp.Diff([]string{"a", "b"}, p.AllValues("partition")) != "" {
		t.Errorf("%+v", p)
	}
	if p.Given[1].At != 2 || p.Given[1].As != "--part" {
		t.Errorf("the second option is %+v", p.Given[1])
	}
}

func TestHelpFollowsFromTheTable(t *testing.T) {
	t.Parallel()
	small := Table{Program: "sbatch", Operands: "SCRIPT", Options: table.Options[:1]}
	small = *small.WithOptions(Option{Long: "exclusive-and-very-long", Arg: Optional, Value: "WHO", Help: "Alone", Group: "Size"}, Option{Long: "secret", Hidden: true})
	want := "Size:\n  -N, --nodes=N                   Number of nodes\n      --exclusive-and-very-long[=WHO]\n                                  Alone\n\n"
	if diff := cmp.Diff(want, small.OptionsText()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("Usage: sbatch [-N N] [--exclusive-and-very-long[=WHO]] SCRIPT\n", small.UsageText()); diff != "" {
		t.Error(diff)
	}
}

func TestMissingOptionsGetTheLettersThatAreFree(t *testing.T) {
	t.Parallel()
	small := Table{Options: []Option{{Long: "noheader", Short: 'h'}, {Long: "version"}}}
	want := []Option{{Long: "noheader", Short: 'h'}, {Long: "version"}, {Long: "help"}, {Long: "verbose", Short: 'v'}}
	if diff := cmp.Diff(want, small.WithMissing(Option{Long: "help", Short: 'h'}, Option{Long: "version", Short: 'V'}, Option{Long: "verbose", Short: 'v'}).Options); diff != "" {
		t.Error(diff)
	}
}

// Parsing a command line that is written out in full returns the same options.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"--nodes=2 -HvN2", "--part gpu run.sh -x", "-k off --exclusive=user", "-- a", "--n=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := strings.Split(text, " ")
		p, err := table.ParseArguments(words)
		if err != nil {
			return
		}
		var again []string
		for _, g := range p.Given {
			if word := "--" + g.Name; g.HasValue {
				again = append(again, word+"="+g.Value)
			} else {
				again = append(again, word)
			}
		}
		again = append(append(again, "--"), p.Operands...)
		q, err := table.ParseArguments(again)
		if err != nil || line(p) != line(q) {
			t.Fatalf("%q is %q, and %q is %q, %v", words, line(p), again, line(q), err)
		}
	})
}
