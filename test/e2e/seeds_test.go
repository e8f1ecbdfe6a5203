package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	// The jobs are submitted to a queue of the seed's: the queues come first, as they do there.
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
				// A second time nothing changes: our defaults do not fight the manifest. (An exported uid is refused
				// the second time, by Kubernetes itself and for every kind.)
				if out := c.must(string(b), "kubectl", "apply", "-f", "-"); strings.Contains(out, "created") {
					t.Errorf("applied anew: %s", out)
				}
			}
			if rank(f) > 0 {
				// Two of the seed's jobs have one name.
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
