package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSeedManifestsApplyUnchanged applies, with kubectl, every Queue, PodGroup and Job in the seed documents.
func TestSeedManifestsApplyUnchanged(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "seeds")
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", dir, err)
	}
	c := bigNode(t)
	c.kubectl("create", "namespace", "eth") // the namespace of seed 002's PodGroup
	// The jobs use queues of the same seed, so the queues are created first, as in the documents.
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			c := *c
			c.t = t
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			c.must(string(b), "kubectl", "apply", "-f", "-")
			if !strings.Contains(string(b), "\n  uid:") {
				// Applying the manifest again changes nothing: our defaults do not conflict with it. (Kubernetes itself
				// rejects an exported uid the second time, for every kind.)
				if out := c.must(string(b), "kubectl", "apply", "-f", "-"); strings.Contains(out, "created") {
					t.Errorf("applied again: %s", out)
				}
			}
			if rank(f) > 0 {
				// Two jobs in the seed have the same name.
				c.must(string(b), "kubectl", "delete", "--ignore-not-found", "--timeout=60s", "-f", "-")
			}
		})
	}
}

func rank(file string) int {
	if strings.HasPrefix(filepath.Base(file), "queue") {
		return 0
	}
	return 1
}
