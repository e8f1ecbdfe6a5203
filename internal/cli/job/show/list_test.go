package show_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestAJobThatCompletedBeforeItWasSeenRunningHasARuntime(t *testing.T) {
	t.Parallel()
	for phase, want := range map[batchv1alpha1.JobPhase]string{batchv1alpha1.Completed: "0s", batchv1alpha1.Failed: "-", batchv1alpha1.Pending: "-"} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		server.SetObjects(golden.NewJob("short", "default", phase, time.Hour))
		got := golden.Run{Args: "job list short --no-headers"}.RunAgainst(t, server)
		if fields := strings.Fields(got.Out); len(fields) < 7 || fields[6] != want {
			t.Errorf("%s: RUNTIME in %q is not %s", phase, got.Out, want)
		}
	}
}
