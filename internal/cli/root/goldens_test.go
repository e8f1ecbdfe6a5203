package root_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// shown is one run in a golden file.
type shown struct {
	args     []string
	width    int
	out, err string
	code     bool
	// file is the golden file that contains the run.
	file string
}

// readGoldens reads the runs in all golden files of the commands.
func readGoldens(t *testing.T) []shown {
	t.Helper()
	var files []string
	for _, depth := range []string{"*", filepath.Join("*", "*")} { // a noun, or a family of its verbs
		found, err := filepath.Glob(filepath.Join("..", depth, "testdata", "*.txt"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no goldens: %v", err)
		}
		files = append(files, found...)
	}
	var all []shown
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inErr, blank := false, false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if command, isRun := strings.CutPrefix(line, "$ vcctl "); isRun {
				command, width, _ := strings.Cut(command, "    (terminal of ")
				one := shown{args: words(command), file: file}
				switch strings.TrimSuffix(width, " columns)") {
				case "80":
					one.width = 80
				case "120":
					one.width = 120
				case "":
				default:
					one.width = -1
				}
				all, inErr = append(all, one), false
				continue
			}
			if blank && strings.HasPrefix(line, "# ") {
				inErr = false // the description of the next run
				continue
			}
			blank = line == ""
			if len(all) == 0 {
				continue
			}
			last := &all[len(all)-1]
			switch {
			case line == "--- stderr":
				inErr = true
			case strings.HasPrefix(line, "--- exit "):
				inErr, last.code = false, true
			case inErr:
				last.err += line + "\n"
			default:
				last.out += line + "\n"
			}
		}
	}
	return all
}

// Users need a hint to solve an error; every error in a golden file has one.
func TestEveryErrorHasAHint(t *testing.T) {
	t.Parallel()
	tree := newTree("vcctl")
	for _, one := range readGoldens(t) {
		if cmd, _, err := tree.Find(one.args); err == nil && strings.HasPrefix(cmd.CommandPath(), "vcctl slurm ") {
			continue // Slurm commands use Slurm's message format
		}
		lines := strings.Split(one.err, "\n")
		for i, line := range lines {
			what, isError := strings.CutPrefix(line, "error: ")
			if !isError || what == cli.Cancelled.What { // a user who answers no needs no hint
				continue
			}
			next := i + 1
			for next < len(lines) && strings.HasPrefix(lines[next], "       ") {
				next++
			}
			if next == len(lines) || !strings.HasPrefix(lines[next], "hint:  ") && !strings.HasPrefix(lines[next], "at:    ") {
				t.Errorf("%s: vcctl %s: an error without a hint: %s", one.file, strings.Join(one.args, " "), what)
			}
		}
	}
}

// Output for programs is JSON: one value or, in a watch, several.
func TestEveryJSONGoldenIsJSON(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, one := range readGoldens(t) {
		if one.format() != "json" || one.code && one.out == "\n" {
			continue
		}
		seen++
		decoder := json.NewDecoder(strings.NewReader(one.out))
		var value any
		err := decoder.Decode(&value)
		for err == nil && decoder.More() {
			err = decoder.Decode(&value)
		}
		if err != nil {
			t.Errorf("%s: vcctl %s: %v", one.file, strings.Join(one.args, " "), err)
		}
	}
	if seen < 50 {
		t.Errorf("only %d goldens of -o json: they are not read right", seen)
	}
}

// format returns the value of -o.
func (s *shown) format() string {
	for i, arg := range s.args {
		switch {
		case arg == "--":
			return ""
		case (arg == "-o" || arg == "--output") && i+1 < len(s.args):
			return s.args[i+1]
		case strings.HasPrefix(arg, "-o"):
			return strings.TrimPrefix(arg[2:], "=")
		case strings.HasPrefix(arg, "--output="):
			return strings.TrimPrefix(arg, "--output=")
		}
	}
	return ""
}

// way returns which of the five ways a run shows. A command without -o FORMAT has no JSON output.
func (s *shown) way() string {
	program := s.format() == "json"
	switch {
	case s.code && strings.Contains(s.err, "error: ") && (strings.Contains(s.err, "hint: ") || strings.Contains(s.err, "\nat: ")):
		return "an error with a hint and an exit code"
	case s.width == 80:
		return "a terminal of 80 columns"
	case s.width == 120:
		return "a terminal of 120 columns"
	case s.width == 0 && program:
		return "-o json"
	case s.width == 0:
		return "into a pipe"
	}
	return ""
}

// notShown lists the commands without output of their own, and commands that other tests cover.
var notShown = map[string]string{
	"vcctl completion bash": "a script, checked by the shell itself", "vcctl completion zsh": "a script", "vcctl completion fish": "a script",
	"vcctl completion powershell": "a script",
	"vcctl doctor":                "its report counts as an error, because nothing is installed: internal/cli/doctor shows it in all ways",
	"vcctl crds apply":            "internal/cli/crds shows it in all ways but -o json, which test/install reads",
	"vcctl slurm install":         "links, held by its own test",
	"vcctl slurm uninstall":       "links, held by the test of install", "vcctl slurm srun": "it needs pods that run: test/e2e", "vcctl slurm salloc": "the same",
	"vcctl slurm sattach": "it needs pods that run: internal/slurm/step/podcommands", "vcctl slurm sbcast": "the same", "vcctl slurm sgather": "the same", "vcctl slurm strigger": "it only fails",
}

// TestEveryCommandIsShownInFiveWays finds commands without golden runs on terminals of 80 and 120 columns, into a
// pipe, with -o json, and with an error that has a hint.
func TestEveryCommandIsShownInFiveWays(t *testing.T) {
	t.Parallel()
	tree := newTree("vcctl")
	have := map[string]map[string]bool{}
	for _, one := range readGoldens(t) {
		cmd, _, err := tree.Find(one.args)
		if err != nil {
			continue
		}
		path := cmd.CommandPath()
		if have[path] == nil {
			have[path] = map[string]bool{}
		}
		have[path][one.way()] = true
	}
	visit := func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		if notShown[path] != "" || cmd.Hidden {
			return
		}
		ways := []string{"a terminal of 80 columns", "a terminal of 120 columns", "into a pipe", "an error with a hint and an exit code"}
		if output := cmd.Flags().Lookup("output"); output != nil && strings.HasPrefix(output.Usage, "Format:") {
			ways = append(ways, "-o json")
		}
		if strings.HasPrefix(path, "vcctl slurm ") {
			ways = []string{"into a pipe"} // Slurm output has the width of its format on any terminal
		}
		for _, way := range ways {
			if !have[path][way] {
				t.Errorf("%s has no golden: %s (golden.Every makes all five)", path, way)
			}
		}
	}
	leaves(tree, visit)
}
