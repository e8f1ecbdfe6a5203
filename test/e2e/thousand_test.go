package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestTwentyGangsOfAHundredOnAThousandNodes checks that all pods are bound and no node is overcommitted. `make bench`
// measures the speed.
func TestTwentyGangsOfAHundredOnAThousandNodes(t *testing.T) {
	c := startClusterAlone(t, "--process-nodes", "0", "--simulated-nodes", "1000", "--node-cpu", "2", "--node-memory", "8Gi", "--simulated-start", "never")
	h := c.record()
	var manifest strings.Builder
	for i := range 20 {
		manifest.WriteString(job{name: fmt.Sprintf("gang-%d", i), min: 100, tasks: []task{{name: "m", replicas: 100, cpu: "1", command: "true"}}}.String())
	}
	began := time.Now()
	c.create(manifest.String())
	c.eventually(120*time.Second, "2,000 pods have a node", func() error {
		var pods corev1.PodList
		if err := c.List(context.Background(), &pods, client.InNamespace("default")); err != nil {
			return err
		}
		n := 0
		for _, p := range pods.Items {
			if p.Spec.NodeName != "" {
				n++
			}
		}
		if n != 2000 {
			return fmt.Errorf("%d of %d", n, len(pods.Items))
		}
		return nil
	})
	t.Logf("all bound after %.1f s", time.Since(began).Seconds())
	c.noOvercommit()
	if gone := h.deleted(); len(gone) > 0 {
		t.Errorf("pods were deleted: %v", gone)
	}
}
