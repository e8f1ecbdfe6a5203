package root_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// shown is one run in a golden file.
type shown struct {
	args  []string
	width int
	err   string
	code  bool
}

// readGoldens reads the runs of all golden files of the commands.
func readGoldens(t *testing.T) []shown {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "*", "testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	var all []shown
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inErr := false
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if command, isRun := strings.CutPrefix(line, "$ vcctl "); isRun {
				command, width, _ := strings.Cut(command, "    (terminal of ")
				one := shown{args: words(command)}
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
			}
		}
	}
	return all
}

// ways are those in which every command is shown; a command without -o FORMAT cannot be shown for programs.
func (s *shown) way() string {
	program := slices.ContainsFunc(s.args, func(arg string) bool { return arg == "json" || arg == "-ojson" || arg == "--output=json" })
	switch {
	case s.code && strings.Contains(s.err, "error: ") && strings.Contains(s.err, "hint: "):
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

// notShown are commands that print nothing of their own, or what is held elsewhere.
var notShown = map[string]string{
	"vcctl completion bash": "a script, checked by the shell itself", "vcctl completion zsh": "a script", "vcctl completion fish": "a script",
	"vcctl completion powershell": "a script",
	"vcctl slurm translate":       "it names this machine and its directory: internal/slurm/translate holds what it makes", "vcctl slurm install": "links, held by its own test",
	"vcctl slurm uninstall": "links, held by the test of install", "vcctl slurm srun": "it needs pods that run: test/e2e", "vcctl slurm salloc": "the same",
}

// TestEveryCommandIsShownInFiveWays finds commands that lack a golden: on terminals of
// 80 and of 120 columns, into a pipe, with -o json, and with an error that has a hint.
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
			ways = []string{"into a pipe"} // what Slurm's commands print has the widths that its formats say, whatever the terminal
		}
		for _, way := range ways {
			if !have[path][way] {
				t.Errorf("%s has no golden: %s (golden.Every makes all five)", path, way)
			}
		}
	}
	leaves(tree, visit)
}
