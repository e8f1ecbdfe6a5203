package request

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/directive"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

var now = time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)

// build builds a request from a script, variables and a command line.
func build(t *testing.T, script, environ, line string, ignore ...string) (*Request, []string, error) {
	t.Helper()
	read, err := directive.ParseScript([]byte("#!/bin/sh\n" + script))
	if err != nil {
		return nil, nil, err
	}
	parsed, err := OptionTable(Sbatch, "").ParseArguments(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	var variables []string
	if environ != "" {
		variables = strings.Split(environ, ";")
	}
	return buildAndCheck(Input{Command: Sbatch, Words: read.Components[0], Environ: variables, Line: parsed, Now: now}, ignore...)
}

// buildAndCheck builds a request and checks its options for a site that ignores some of them.
func buildAndCheck(in Input, ignore ...string) (*Request, []string, error) {
	r, err := BuildRequest(in)
	if r == nil {
		return nil, nil, err
	}
	warnings, refusals := r.CheckSupport(ignore, nil)
	return r, warnings, errors.Join(err, refusals)
}

// printed returns the text that sbatch prints for an error.
func printed(err error) string {
	if err == nil {
		return ""
	}
	var all string
	for _, one := range usererror.Flatten(err) {
		all += slurmerror.FormatText("sbatch", usererror.FromError(one))
	}
	return all
}

func TestLaterSourcesWin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, environ, line, want string }{
		"the script alone":                       {"#SBATCH -p a", "", "", "--partition=a (line 2)"},
		"the last of several directives":         {"#SBATCH -p a\n#SBATCH --part=b", "", "", "--partition=b (line 3)"},
		"the environment over the script":        {"#SBATCH -p a", "SBATCH_PARTITION=e", "", "--partition=e (SBATCH_PARTITION)"},
		"the command line over the environment":  {"#SBATCH -p a", "SBATCH_PARTITION=e", "-p c", "--partition=c"},
		"variables of other commands":            {"", "SLURM_PARTITION=e;SALLOC_PARTITION=f;XSBATCH_PARTITION=g", "", ""},
		"an empty variable of an option is none": {"", "SBATCH_PARTITION=", "", ""},
	} {
		r, _, err := build(t, c.script, c.environ, c.line)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if s, given := r.Given["partition"]; given {
			got = s.String() + s.From.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestVariablesOfSwitches(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{"": true, "yes": true, "1": true, "7": true, "0": false, "no": false, "true": false, "00": false} {
		r, _, err := build(t, "", "SBATCH_WAIT="+value, "")
		if err != nil || r.Wait != want {
			t.Errorf("SBATCH_WAIT=%s: %v, %v", value, r.Wait, err)
		}
	}
}

func TestRequeueIsAsTheLastOneSays(t *testing.T) {
	t.Parallel()
	r, _, err := build(t, "#SBATCH --no-requeue", "", "--requeue")
	if err != nil || r.Requeue == nil || !*r.Requeue {
		t.Errorf("%+v, %v", r.Requeue, err)
	}
}

func TestMemoryThatIsAskedForNearerOverrules(t *testing.T) {
	t.Parallel()
	r, _, err := build(t, "#SBATCH --mem-per-cpu=1G", "", "--mem=4G")
	if err != nil || r.MemPerCPU != nil || r.Mem == nil || *r.Mem != 4096 {
		t.Errorf("%+v, %v", r, err)
	}
	_, _, err = build(t, "", "", "--mem-per-cpu=1G --mem=4G")
	if want := "sbatch: error: --mem, --mem-per-cpu and --mem-per-gpu are mutually exclusive.\n"; printed(err) != want {
		t.Errorf("%q", printed(err))
	}
}

func TestErrorsInSlurmsWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"--mem=4Gi":            "sbatch: error: Invalid --mem specification\nsbatch: hint: \"4Gi\" is Kubernetes notation; use 4G (in Slurm, G means 1024 MiB)\n",
		"-t 2h":                "sbatch: error: Invalid --time specification\nsbatch: hint: 2h is not in Slurm's time format; use 2:00:00, or 120 (minutes)\n",
		"-n x":                 "sbatch: error: Invalid numeric value \"x\" for --ntasks.\nsbatch: hint: use a whole number greater than 0\n",
		"-N 1,3":               "sbatch: error: Invalid node count specification: 1,3\nsbatch: hint: lists of node counts are not supported: use one number, or a range MIN-MAX\n",
		"-a 3-1":               "sbatch: error: Batch job submission failed: Invalid job array specification\nsbatch: hint: \"3-1\" runs backwards: write 1-3\n",
		"--reservation=x":      "sbatch: error: --reservation is not supported here (Volcano does not support advance reservations)\nsbatch: hint: remove --reservation, or add this option to ignore in the site's profile\n",
		"--mem=4Gi --begin=xx": "sbatch: error: Invalid --mem specification\nsbatch: hint: \"4Gi\" is Kubernetes notation; use 4G (in Slurm, G means 1024 MiB)\nsbatch: error: Invalid --begin specification\nsbatch: hint: use HH:MM[:SS], YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY][-HH:MM[:SS]], today, tomorrow, noon, midnight, or now+2hours\n",
		"--mail-type=end,FOO":  "sbatch: error: Invalid --mail-type specification\nsbatch: hint: use one or more of NONE, BEGIN, END, FAIL, REQUEUE, ALL, INVALID_DEPEND, STAGE_OUT, TIME_LIMIT, TIME_LIMIT_90, TIME_LIMIT_80, TIME_LIMIT_50, ARRAY_TASKS, separated by commas\n",
		"--mpi=pmix":           "sbatch: error: Invalid --mpi specification\nsbatch: hint: use mpirun, or srun --mpi=none; pmix is not supported here\n",
		"--exclusive=topo":     "sbatch: error: Invalid --exclusive specification\nsbatch: hint: use --exclusive without a value or --exclusive=user; topo is not supported here\n",
	} {
		_, _, err := build(t, "", "", line)
		if diff := cmp.Diff(want, printed(err)); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestErrorsInDirectivesEndWith255(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"#SBATCH --foo":    "sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information\n",
		"#SBATCH -N2 word": "sbatch: error: Invalid directive found in batch script: word\nsbatch: hint: line 2: a directive can contain only options; text after # is a comment\n",
		"#SBATCH --mem=x":  "sbatch: error: Invalid --mem specification\nsbatch: hint: use a whole number with the suffix K, M, G or T, for example 4G; the default unit is MiB\n",
		"#SBATCH -J 'a":    "sbatch: error: line 2: Unmatched `'` in [-J 'a]\nsbatch: hint: close the quote on the same line\n",
	} {
		_, _, err := build(t, script, "", "")
		if diff := cmp.Diff(want, printed(err)); diff != "" {
			t.Errorf("%s: %s", script, diff)
		}
		var f *usererror.Error
		if !errors.As(err, &f) || f.Code != 255 {
			t.Errorf("%s ends with %+v", script, f)
		}
	}
}

func TestWhatHasNoEffectIsReportedOnceWithVerbose(t *testing.T) {
	t.Parallel()
	script := "\n\n\n\n\n#SBATCH --hint=nomultithread\n#SBATCH -s -s\n"
	if _, warnings, err := build(t, script, "", ""); err != nil || len(warnings) > 0 {
		t.Errorf("without -v: %q, %v", warnings, err)
	}
	_, warnings, err := build(t, script, "", "-v")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"--hint=nomultithread has no effect here (line 7)", "--oversubscribe has no effect here (line 8)"}, warnings); diff != "" {
		t.Error(diff)
	}
	if _, _, err = build(t, script, "", "--strict"); !strings.Contains(printed(err), "sbatch: error: --hint=nomultithread has no effect here (line 7)\n") {
		t.Errorf("--strict: %s", printed(err))
	}
	_, warnings, err = build(t, "", "", "--reservation=x", "reservation")
	if err != nil || cmp.Diff([]string{"--reservation=x has no effect here"}, warnings) != "" {
		t.Errorf("a profile that ignores it: %q, %v", warnings, err)
	}
}

// TestEveryOptionOfTheSpecificationIsThere compares the class of each option with the specification's table in
// testdata.
func TestEveryOptionOfTheSpecificationIsThere(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/options.txt")
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]Class{"M": Mapped, "W": Ignored, "R": Refused}
	count := 0
	for line := range strings.Lines(string(content)) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		for _, name := range fields[1:] {
			count++
			o := FindOption(Sbatch, name)
			switch {
			case o == nil:
				t.Errorf("there is no --%s", name)
			case o.Class != classes[fields[0]]:
				t.Errorf("--%s is of class %d, not %s", name, o.Class, fields[0])
			}
		}
	}
	if count < 109 {
		t.Errorf("only %d options in the list", count)
	}
}

func TestTheTableIsSound(t *testing.T) {
	t.Parallel()
	env := regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	for _, c := range []Command{Sbatch, Srun, Salloc} {
		var names, letters []string
		for i := range Options {
			o := &Options[i]
			if !o.belongsTo(c) {
				continue
			}
			if slices.Contains(names, o.Long) {
				t.Errorf("%s: --%s is used twice", program[c], o.Long)
			}
			names = append(names, o.Long)
			if o.Short != 0 && slices.Contains(letters, string(o.Short)) {
				t.Errorf("%s: -%c is used twice", program[c], o.Short)
			}
			letters = append(letters, string(o.Short))
			if o.Alias != "" {
				if FindOption(c, o.Alias) == nil {
					t.Errorf("%s: --%s is another name of --%s, which is not there", program[c], o.Long, o.Alias)
				}
				continue
			}
			if o.Env != "" && !env.MatchString(o.Env) {
				t.Errorf("--%s: variable %q", o.Long, o.Env)
			}
			if o.Class == Mapped && o.set == nil || o.Class != Mapped && o.set != nil {
				t.Errorf("--%s: class %d, and a setter: %v", o.Long, o.Class, o.set != nil)
			}
			if o.Class == Refused && o.Why == "" {
				t.Errorf("--%s is refused without a reason", o.Long)
			}
			if o.Class == Mapped && o.Help == "" {
				t.Errorf("--%s has no help", o.Long)
			}
		}
	}
}
