package root_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// Unknown words are errors at every position of a command line.
func TestUnknownWordsGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "words", []golden.Run{
		{About: "an unknown command", Args: "nonsense"},
		{About: "help on an unknown word", Args: "help nonsense"},
		{About: "help on a word that is nearly a topic", Args: "help fromats"},
		{About: "help on an unknown word of a noun", Args: "help queue nonsense"},
		{About: "help on a word after a command", Args: "help queue list nonsense"},
		{About: "a topic and another word", Args: "exit-codes nonsense"},
	})
	golden.CompareRuns(t, "meant", []golden.Run{
		{About: "the version of this program", Args: "--version", NoCluster: true},
		{About: "the kind may stand before the name", Args: "job view vj/train --events=false"},
		{About: "another kind may not", Args: "job view pod/train"},
		{About: "nor in a list", Args: "queue get job/research"},
		{About: "nor where a file is read as well", Args: "podgroup view job/eval"},
		{About: "a priority class that is not there", Args: "job run new --priority-class urgent -- true"},
		{About: "events of what is in no namespace", Args: "events queue/research"},
		{About: "a limit to a wait that is none", Args: "job suspend train --timeout 3s"},
		{About: "a template that is none", Args: "job list -o jsonpath={x"},
		{About: "a job that exists is not planned", Args: "plan -f -", Input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train}\nspec: {tasks: [{name: a, replicas: 1, template: {spec: {containers: [{name: a, image: i}]}}}]}\n"},
		{About: "a queue that is open already", Args: "queue open research"},
	})
	server := clitest.Start(t)
	for _, line := range [][]string{{"help"}, {"help", "queue", "tree"}, {"help", "formats"}, {"formats"}, {"exit-codes", "--help"}} {
		if got := (golden.Run{Argv: line, NoCluster: true}).RunAgainst(t, server); got.Code != 0 || got.Out == "" {
			t.Errorf("%v: exit %d: %s%s", line, got.Code, got.Out, got.Err)
		}
	}
}

// Help fits a terminal of 80 columns and ends with one line break. An example, which users copy as a whole, may be
// wider.
func TestHelpFitsEightyColumns(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t)
	tree := newTree("vcctl")
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if cmd.Name() != "slurm" { // Slurm commands print their own help, in Slurm's format
				look(sub)
			}
		}
		argv := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		help := golden.Run{Argv: argv, NoCluster: true}.RunAgainst(t, server)
		if strings.HasSuffix(help.Out, "\n\n") {
			t.Errorf("%v ends with empty lines", argv)
		}
		for line := range strings.Lines(help.Out) {
			if line = strings.TrimRight(line, "\n"); render.Width(line) > 80 && !strings.Contains(cmd.Example, strings.TrimSpace(line)) {
				t.Errorf("%v: %d columns: %s", argv, render.Width(line), line)
			}
		}
	}
	look(tree)
}

// The error about a missing or invalid kubeconfig names the file.
func TestAKubeconfigThatIsNoneIsNamed(t *testing.T) {
	dir, server := t.TempDir(), clitest.Start(t)
	for name, c := range map[string]struct {
		text string // "" means no file
		want []string
	}{
		"missing":   {want: []string{"no cluster is configured: KUBECONFIG: file", "does not exist"}},
		"other":     {text: "a: b\n", want: []string{"no cluster is configured: KUBECONFIG: file", "is not a kubeconfig or does not define a cluster"}},
		"garbage":   {text: "garbage\n", want: []string{"error: kubeconfig", "hint:  the file is not a valid kubeconfig"}},
		"half-yaml": {text: "clusters: [\n", want: []string{"error: kubeconfig", "hint:  the file is not a valid kubeconfig"}},
	} {
		path := filepath.Join(dir, name)
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("KUBECONFIG", path)
		got := golden.Run{Args: "queue list", Env: map[string]string{"KUBECONFIG": path}, NoCluster: true}.RunAgainst(t, server)
		for _, want := range append(c.want, path) {
			if got.Code != 1 || !strings.Contains(got.Err, want) {
				t.Errorf("%s: exit %d, no %q in: %s", name, got.Code, want, got.Err)
			}
		}
	}
}
