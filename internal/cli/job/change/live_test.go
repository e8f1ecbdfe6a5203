package change_test

import (
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestSuspendWaitsForThePhase(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, _, done := golden.Start(t, server, "job", "suspend", "train", "--wait")
	out.WaitFor(t, "train suspended")
	train := golden.NewJob("train", "research", batchv1alpha1.Aborting, 2*time.Hour)
	server.SetObjects(train)
	train.Status.State.Phase = batchv1alpha1.Aborted
	if code := golden.WaitForEnd(t, server, out, done, train); code != 0 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}
