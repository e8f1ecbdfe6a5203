package wait_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestWaitingPrintsTheReason(t *testing.T) {
	t.Parallel()
	plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	for _, args := range []string{"job wait plain", "job logs plain -f"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			out, stop, _ := golden.Start(t, server, strings.Fields(args)...)
			out.WaitFor(t, `job "plain" is waiting: NotEnoughResources: `)
			server.SetObjects(golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue default is closed"}))
			out.WaitFor(t, `job "plain" is waiting: QueueClosed: queue default is closed`)
			server.SetObjects(golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue default is closed"}))
			stop()
			if n := strings.Count(out.String(), "is waiting:"); n != 2 {
				t.Errorf("%d reasons are said, want 2:\n%s", n, out)
			}
		})
	}
}
