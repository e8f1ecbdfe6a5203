package show_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// The view of a large job lists only some pods, failed and pending ones first, and names the command that lists all.
func TestTheViewOfALargeJobIsShort(t *testing.T) {
	t.Parallel()
	large := golden.NewJob("large", "default", batchv1alpha1.Running, time.Hour)
	large.Spec.Tasks[0].Replicas = 150
	server := clitest.Start(t, large)
	for i := range 150 {
		pod := golden.NewPod(large, i, "n1")
		if i == 149 {
			pod.Status.Phase = corev1.PodFailed
		}
		server.SetObjects(pod)
	}
	got := golden.Run{Args: "job view large"}.RunAgainst(t, server)
	if n := strings.Count(got.Out, "large-worker-"); n != 100 {
		t.Errorf("%d pods are shown, want 100", n)
	}
	for _, want := range []string{"Pods (100 of 150; 'vcctl pod list --job large' lists all):", "large-worker-149 "} {
		if !strings.Contains(got.Out, want) {
			t.Errorf("it does not show %q:\n%s", want, got.Out[:min(2000, len(got.Out))])
		}
	}
}
