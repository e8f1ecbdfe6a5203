// Package plugin tests that the example of an external policy builds in its own module.
package plugin

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// rewrite makes the test update the example's go.mod and go.sum: go test ./test/plugin -rewrite.
var rewrite = flag.Bool("rewrite", false, "rewrite the go.mod and go.sum of the example")

const (
	root    = "../.."
	example = root + "/examples/custom-policy"
)

// goMod returns the expected go.mod of the example: ours, with vc as an additional requirement. A module does not
// inherit the replacements of a required module, but Kubernetes needs them.
func goMod(t *testing.T) string {
	t.Helper()
	ours := read(t, root+"/go.mod")
	text := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(ours, "module example.com/custom-policy")
	text = regexp.MustCompile(`(?ms)^tool \(.*?^\)\n|^tool .*?$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m) // indirect$`).ReplaceAllString(text, "")
	text = regexp.MustCompile(`(?m)^(\t\S+ v\S+)$`).ReplaceAllString(text, "$1 // indirect")
	text = strings.Replace(text, "\nrequire (\n", "\n// The rest of this file is as in vc's own go.mod: see its README.\nrequire github.com/vc-batch/vc v0.0.0\n\nreplace github.com/vc-batch/vc => ../..\n\nrequire (\n", 1)
	return text
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestTheExampleRequiresWhatWeRequire(t *testing.T) {
	for name, want := range map[string]string{"go.mod": goMod(t), "go.sum": read(t, root+"/go.sum")} {
		path := filepath.Join(example, name)
		if *rewrite {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(want, read(t, path)); diff != "" {
			t.Errorf("%s is out of step; run go test ./test/plugin -rewrite (-want +got):\n%s", path, diff)
		}
	}
}

// goTool runs go in the example's module.
func goTool(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = example
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func TestAPolicyFromOutsideIsCompiledIn(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a whole daemon")
	}
	binary := filepath.Join(t.TempDir(), "vcd-licences")
	goTool(t, "build", "-o", binary, ".")
	goTool(t, "test", "./...")
	if out, err := exec.Command(binary, "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "Version: ") {
		t.Errorf("%v: %s", err, out)
	}
}
