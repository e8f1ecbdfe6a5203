package processnode

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestPodsFindTheHelperOfBatchJobs verifies that the helper next to the node's program is mounted into pods, because
// there is no image that contains it.
func TestPodsFindTheHelperOfBatchJobs(t *testing.T) {
	node, _ := startNode(t, "helper")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	beside := filepath.Join(filepath.Dir(program), "vc-step")
	if err := os.WriteFile(beside, []byte("#!/bin/sh\necho helper \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(beside)
	if node.machine.helperPath() == "" {
		t.Skip("nothing can be shown to pods here without making a file on the machine: ", node.machine.missing)
	}
	ns := namespace(t)
	create(t, ns, shell("p", "helper", `vc-step install; echo over > /usr/local/bin/vc-step || echo read-only`))
	untilPhase(t, ns, "p", corev1.PodSucceeded)
	contains(t, logs(t, ns, "p", corev1.PodLogOptions{}), "helper install\n", "read-only\n")
}
