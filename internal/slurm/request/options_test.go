package request

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// rows returns the lines of a file in testdata, split into words.
func rows(t *testing.T, file string) [][]string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]string
	for line := range strings.Lines(string(content)) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			all = append(all, words)
		}
	}
	return all
}

// ofStepsOnly lists options of srun that do not concern an allocation. The table of steps contains them.
var ofStepsOnly = []string{"exact", "het-group", "jobid", "kill-on-bad-exit", "label", "multi-prog", "overlap", "pty", "relative", "unbuffered", "wait"}

// TestEveryOptionOfTheManualIsThere checks the options of three manual pages.
func TestEveryOptionOfTheManualIsThere(t *testing.T) {
	t.Parallel()
	commands := map[string]Command{"sbatch": Sbatch, "salloc": Salloc, "srun": Srun}
	count := map[string]int{}
	for _, row := range rows(t, "manual.txt") {
		c, known := commands[row[0]]
		if !known {
			t.Fatalf("%s is no command", row[0])
		}
		for _, name := range row[1:] {
			count[row[0]]++
			if FindOption(c, name) == nil && (c != Srun || !slices.Contains(ofStepsOnly, name)) {
				t.Errorf("%s: there is no --%s", row[0], name)
			}
		}
	}
	if count["sbatch"] < 110 || count["salloc"] < 90 || count["srun"] < 120 {
		t.Errorf("the list has only %v", count)
	}
}

// TestEveryVariableOfTheManualIsRead sets each variable alone and checks its option.
func TestEveryVariableOfTheManualIsRead(t *testing.T) {
	t.Parallel()
	all := rows(t, "variables.txt")
	for _, row := range all {
		command, _, _ := strings.Cut(row[0], "_")
		commands := map[string][]Command{"SBATCH": {Sbatch}, "SALLOC": {Salloc}, "SRUN": {Srun}, "SLURM": {Srun}}[command]
		if row[0] == "SLURM_CLUSTERS" || row[0] == "SLURM_HINT" {
			commands = []Command{Sbatch, Salloc}
		}
		for _, c := range commands {
			r, err := BuildRequest(Input{Command: c, Environ: []string{row[0] + "=" + row[2]}, Now: now})
			if err != nil {
				t.Errorf("%s: %v", row[0], err)
				continue
			}
			if got := r.Given[row[1]].From.Variable; got != row[0] || len(r.Given) != 1 {
				t.Errorf("%s=%s for %s gives %v", row[0], row[2], program[c], r.Given)
			}
		}
	}
	for _, name := range []string{"SLURM_OUTPUT=o", "SLURM_ERROR=e", "SLURM_INPUT=i", "SLURM_EXPORT=NONE", "SLURM_CHDIR=/"} {
		r, err := BuildRequest(Input{Command: Srun, Environ: []string{name}, Now: now})
		if err != nil || len(r.Given) > 0 {
			t.Errorf("%s is no variable of Slurm's and gives %v, %v", name, r.Given, err)
		}
	}
}

func TestTheStrongerOfTwoVariables(t *testing.T) {
	t.Parallel()
	r, err := BuildRequest(Input{Command: Srun, Environ: []string{"SLURM_JOB_NUM_NODES=3", "SLURM_NNODES=2", "SLURM_NTASKS=6", "SLURM_NPROCS=5"}, Now: now})
	if err != nil || r.Nodes.Max != 3 || r.Tasks != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = BuildRequest(Input{Command: Sbatch, Environ: []string{"SBATCH_DEBUG=2", "SBATCH_REQ_SWITCH=1", "SBATCH_WAIT4SWITCH=30"}, Now: now})
	if err != nil || r.Verbose != 2 || r.Switches.Wait != 30 {
		t.Errorf("%+v, %+v, %v", r, r.Switches, err)
	}
	_, err = BuildRequest(Input{Command: Sbatch, Environ: []string{"SBATCH_REQ_SWITCH=1", "SBATCH_WAIT4SWITCH=2h"}, Now: now})
	if want := "sbatch: error: Invalid --switches specification\nsbatch: hint: SBATCH_WAIT4SWITCH: 2h is not in Slurm's time format; use 2:00:00, or 120 (minutes)\n"; printed(err) != want {
		t.Errorf("%q", printed(err))
	}
}

// TestWhatIsWarnedAboutAndRefusedSaysSo checks that the messages about options without effect name the option, and
// that refusals contain the reason.
func TestWhatIsWarnedAboutAndRefusedSaysSo(t *testing.T) {
	t.Parallel()
	warned, denied := 0, 0
	for i := range Options {
		o := &Options[i]
		for _, c := range []Command{Sbatch, Salloc, Srun} {
			if o.Class == Mapped || !o.belongsTo(c) {
				continue
			}
			word := "--" + o.Long
			if o.Arg != getopt.None {
				word += "=x"
			}
			line, err := OptionTable(c, "").ParseArguments([]string{word})
			if err != nil {
				t.Fatal(err)
			}
			_, warnings, err := buildAndCheck(Input{Command: c, Line: line, Now: now})
			if o.Class == Ignored {
				warned++
				verbose, aloud, loudErr := buildAndCheck(Input{Command: c, Line: getopt.Parsed{Given: append(line.Given, getopt.Given{Name: "verbose"})}, Now: now})
				want := []string{word + " has no effect here"}
				if err != nil || len(warnings) > 0 {
					t.Errorf("%s %s without -v: %q, %v", program[c], word, warnings, err)
				}
				if loudErr != nil || cmp.Diff(want, aloud) != "" || cmp.Diff(want, verbose.NoEffect) != "" {
					t.Errorf("%s %s with -v: %q, %v", program[c], word, aloud, loudErr)
				}
				continue
			}
			denied++
			if want := "sbatch: error: --" + o.Long + " is not supported here (" + o.Why + ")\nsbatch: hint: remove --" + o.Long + ", or add this option to ignore in the site's profile\n"; len(warnings) > 0 || printed(err) != want {
				t.Errorf("%s %s: %q, %q", program[c], word, warnings, printed(err))
			}
		}
	}
	if warned < 80 || denied < 60 {
		t.Errorf("only %d warnings and %d refusals were looked at", warned, denied)
	}
}

func TestOptionsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, environ, line, want string }{
		"cpus by task in the script, by GPU on the line":  {"#SBATCH -c4", "", "--cpus-per-gpu=2", "--cpus-per-gpu=2"},
		"tasks by GPU in a variable, by node on the line": {"", "SBATCH_NTASKS_PER_GPU=2", "--ntasks-per-node=4", "--ntasks-per-node=4"},
		"both on the line":                            {"", "", "-c4 --cpus-per-gpu=2", "sbatch: error: --cpus-per-gpu and --cpus-per-task are mutually exclusive.\nsbatch: hint: use only one of these options\n"},
		"switches and segments":                       {"#SBATCH --switches=1\n#SBATCH --segment=4", "", "", "sbatch: error: --switches and --segment are mutually exclusive.\nsbatch: hint: use only one of these options\n"},
		"nodes of the script, and a file on the line": {"#SBATCH -w n1", "", "-w ./hosts", "--nodelist=./hosts"},
		"a file of nodes, and names on the line":      {"#SBATCH -F hosts", "", "-w n[1-2]", "--nodelist=n[1-2]"},
		"names, and a file of nodes on the line":      {"#SBATCH -w n[1-2]", "", "-F hosts", "--nodefile=hosts"},
		"requeue":                                     {"#SBATCH --requeue", "", "--no-requeue", "--no-requeue"},
		"home":                                        {"#SBATCH --no-container-mount-home", "", "--container-mount-home", "--container-mount-home"},
	} {
		r, _, err := build(t, c.script, c.environ, c.line)
		got := printed(err)
		if err == nil {
			var said []string
			for option := range r.Given {
				said = append(said, r.OptionText(option))
			}
			got = strings.Join(said, " ")
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	r, _, err := build(t, "#SBATCH -w n1", "", "-w ./hosts")
	if err != nil || r.Nodefile != "./hosts" || r.Nodelist != nil {
		t.Errorf("a file takes the place of names: %+v, %v", r, err)
	}
}
