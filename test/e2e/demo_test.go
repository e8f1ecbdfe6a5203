package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheDemoShowsADistributedJobAndLeavesNothing runs the commands of `make demo` and `make demo-down`, without the
// build.
func TestTheDemoShowsADistributedJobAndLeavesNothing(t *testing.T) {
	root := filepath.Join("..", "..")
	dir := filepath.Join(t.TempDir(), "demo")
	demo := func(what string) (string, error) {
		cmd := exec.Command("hack/demo.sh", what)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "DEMO_DIR="+dir, "DEMO_BIN="+binaries)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	t.Cleanup(func() { _, _ = demo("down") })

	out, err := demo("up")
	if err != nil {
		t.Fatalf("demo up: %v\n%s", err, out)
	}
	for _, want := range []string{
		"lines for 4 workers", "wordcount-worker-3.wordcount", "verified: a single process counts the same",
		"Jobs:", "Completed", "export KUBECONFIG=" + dir,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the demo does not show %q:\n%s", want, out)
		}
	}
	if again, err := demo("up"); err != nil {
		t.Errorf("a second demo on the running cluster: %v\n%s", err, again)
	}
	if out, err := demo("down"); err != nil {
		t.Errorf("demo down: %v\n%s", err, out)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("%s is still there", dir)
	}
	if out, err := demo("down"); err != nil {
		t.Errorf("demo down when nothing runs: %v\n%s", err, out)
	}
}
