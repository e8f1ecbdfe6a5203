package root_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/golden"
)

// Words that the tree does not know are errors, wherever they stand.
func TestUnknownWordsGolden(t *testing.T) {
	t.Parallel()
	golden.Hold(t, "words", []golden.Run{
		{About: "an unknown command", Args: "nonsense"},
		{About: "help on an unknown word", Args: "help nonsense"},
		{About: "help on a word that is nearly a topic", Args: "help fromats"},
		{About: "help on an unknown word of a noun", Args: "help queue nonsense"},
		{About: "help on a word after a command", Args: "help queue list nonsense"},
		{About: "a topic and another word", Args: "exit-codes nonsense"},
	})
	server := clitest.Start(t)
	for _, line := range [][]string{{"help"}, {"help", "queue", "tree"}, {"help", "formats"}, {"formats"}, {"exit-codes", "--help"}} {
		if got := (golden.Run{Argv: line, NoCluster: true}).Do(t, server); got.Code != 0 || got.Out == "" {
			t.Errorf("%v: exit %d: %s%s", line, got.Code, got.Out, got.Err)
		}
	}
}

// A kubeconfig that is missing, or is none, is named.
func TestAKubeconfigThatIsNoneIsNamed(t *testing.T) {
	dir, server := t.TempDir(), clitest.Start(t)
	for name, c := range map[string]struct {
		text string // "" is no file
		want []string
	}{
		"missing":   {want: []string{"no cluster is configured: KUBECONFIG: file", "does not exist"}},
		"other":     {text: "a: b\n", want: []string{"no cluster is configured: KUBECONFIG: file", "is no kubeconfig, or names no cluster"}},
		"garbage":   {text: "garbage\n", want: []string{"error: kubeconfig", "hint:  it is no kubeconfig"}},
		"half-yaml": {text: "clusters: [\n", want: []string{"error: kubeconfig", "hint:  it is no kubeconfig"}},
	} {
		path := filepath.Join(dir, name)
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("KUBECONFIG", path)
		got := golden.Run{Args: "queue list", Env: map[string]string{"KUBECONFIG": path}, NoCluster: true}.Do(t, server)
		for _, want := range append(c.want, path) {
			if got.Code != 1 || !strings.Contains(got.Err, want) {
				t.Errorf("%s: exit %d, no %q in: %s", name, got.Code, want, got.Err)
			}
		}
	}
}
