package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSeedManifestsApplyUnchanged applies, with kubectl, every Queue, PodGroup and Job that the seed documents print.
func TestSeedManifestsApplyUnchanged(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "seeds")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", dir, err)
	}
	c := bigNode(t)
	c.kubectl("create", "namespace", "eth") // seed 002's PodGroup lives there
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			c.must(string(b), "kubectl", "apply", "-f", "-")
			// A second time nothing changes: our defaults do not fight the manifest.
			c.must(string(b), "kubectl", "apply", "-f", "-")
			c.must(string(b), "kubectl", "delete", "--ignore-not-found", "--wait=false", "-f", "-")
		})
	}
}
