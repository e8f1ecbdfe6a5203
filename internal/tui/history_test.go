package tui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
)

func TestPendingAmountsAreThoseOfJobsWithoutNodes(t *testing.T) {
	t.Parallel()
	jobs := []*snapshot.Job{
		{Phase: batchv1alpha1.Pending, Replicas: 2, GPUs: 8, MilliCPU: 4000, MemoryBytes: 1 << 30},
		{Phase: batchv1alpha1.Running, Replicas: 4, GPUs: 32, MilliCPU: 9000, Bound: 4, PodsOnNodes: 4},
		{Phase: batchv1alpha1.Failed, Replicas: 1, GPUs: 1, MilliCPU: 1000},
	}
	got := map[string]int64{}
	for _, name := range []string{"cpu", "memory", "pods", "nvidia.com/gpu", "example.com/other"} {
		got[name] = pendingAmount(jobs, corev1.ResourceName(name))
	}
	want := map[string]int64{"cpu": 4000, "memory": 1 << 30, "pods": 2, "nvidia.com/gpu": 8, "example.com/other": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
