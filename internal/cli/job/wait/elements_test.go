package wait_test

import (
	"strings"
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestAnArrayWithFailedElementsHasNotSucceeded(t *testing.T) {
	t.Parallel()
	const failed = "array tasks 5,7 failed (exit code 1: 7; exit code 7: 5)"
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"job wait sweep":                 {1, `error: job "sweep" completed, but ` + failed},
		"job wait sweep --for=succeeded": {1, `error: job "sweep" completed, but ` + failed},
		"job wait sweep --for=running":   {0, "sweep completed"},
		"job list sweep":                 {0, "PodFailed: " + failed},
	} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		server.SetObjects(golden.NewSweep(batchv1alpha1.Completed))
		got := golden.Run{Args: args}.RunAgainst(t, server)
		if got.Code != want.code || !strings.Contains(got.Out+got.Err, want.says) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", args, got.Code, want.code, want.says, got.Out, got.Err)
		}
	}
}
