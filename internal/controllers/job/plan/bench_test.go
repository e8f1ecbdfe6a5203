package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// BenchmarkPlan measures a plan without writes for a running job of 1,000 pods.
func BenchmarkPlan(b *testing.B) {
	in := given(batchv1alpha1.Running).group("Running").policy(busv1alpha1.PodEvictedEvent, busv1alpha1.RestartJobAction)
	in.Job.Spec.Tasks[0].Replicas = 1000
	for i := range 1000 {
		in.pod("w", i, corev1.PodRunning, ready)
	}
	in.counted()
	b.ReportAllocs()
	for b.Loop() {
		Compute(in.Input)
	}
}
