package job_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// sweep returns an array that completed although elements failed.
func sweep(phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
	job := golden.NewJob("sweep", "default", phase, time.Hour)
	job.Annotations = map[string]string{keys.Array: "0-11"}
	job.Spec.Tasks[0].Replicas = 12
	job.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "0-4,6,8-11", Failed: "5,7", ExitCodes: map[string]string{"1": "7", "7": "5"}}
	job.Status.Succeeded, job.Status.Failed = 10, 2
	return job
}

func TestAnArrayWithFailedElementsHasNotSucceeded(t *testing.T) {
	t.Parallel()
	const failed = "elements 5,7 failed (exit code 1: 7; exit code 7: 5)"
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
		server.SetObjects(sweep(batchv1alpha1.Completed))
		got := golden.Run{Args: args}.RunAgainst(t, server)
		if got.Code != want.code || !strings.Contains(got.Out+got.Err, want.says) {
			t.Errorf("%s: exit %d, want %d and %q:\n%s%s", args, got.Code, want.code, want.says, got.Out, got.Err)
		}
	}
}

func TestRunWaitsForAnArrayAndReturnsTheHighestExitCode(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--wait": 1, "--attach": 7} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		out, _, done := golden.Start(t, server, "job", "run", "sweep", "--array", "0-11", flag)
		job := created(t, server, out, "sweep")
		ended := sweep(batchv1alpha1.Completed)
		ended.UID = job.UID
		if code := golden.WaitForEnd(t, server, out, done, ended); code != want || !strings.Contains(out.String(), `job "sweep" completed, but elements 5,7 failed`) {
			t.Errorf("%s: exit %d, want %d:\n%s", flag, code, want, out)
		}
	}
}

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
