package run_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestRunWaitsForAnArrayAndReturnsTheHighestExitCode(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]int{"--wait": 1, "--attach": 7} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		out, _, done := golden.Start(t, server, "job", "run", "sweep", "--array", "0-11", flag)
		job := golden.WaitForJob(t, server, out, "sweep")
		ended := golden.NewSweep(batchv1alpha1.Completed)
		ended.UID = job.UID
		if code := golden.WaitForEnd(t, server, out, done, ended); code != want || !strings.Contains(out.String(), `job "sweep" completed, but array tasks 5,7 failed`) {
			t.Errorf("%s: exit %d, want %d:\n%s", flag, code, want, out)
		}
	}
}

// A job with ten thousand pods gets a warning.
func TestAHugeJobIsWarnedOf(t *testing.T) {
	t.Parallel()
	for replicas, want := range map[int]bool{9999: false, 10000: true, 1000000: true} {
		got := golden.Run{Args: fmt.Sprintf("job run huge --replicas %d --min 1 --dry-run=client", replicas)}.RunAgainst(t, clitest.Start(t))
		if is := strings.Contains(got.Err, fmt.Sprintf("warning: job \"huge\" creates %d pods", replicas)); is != want {
			t.Errorf("%d pods: warned %t, want %t: %s", replicas, is, want, got.Err)
		}
	}
}

func TestRunWaitFollowsTheJobToItsEnd(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		phase batchv1alpha1.JobPhase
		flag  string
		want  int
		says  string
	}{
		"a job that completes":                                     {batchv1alpha1.Completed, "--wait", 0, `job "hello" completed`},
		"a job that fails":                                         {batchv1alpha1.Failed, "--wait", 1, `job "hello" ended as Failed`},
		"attached, the exit code is that of the pod":               {batchv1alpha1.Failed, "--attach", 42, "worker-0 | bye"},
		"attached to a job that completes":                         {batchv1alpha1.Completed, "--attach", 0, "worker-0 | bye"},
		"a job that is suspended has not ended, but ends the wait": {batchv1alpha1.Aborted, "--wait", 1, `ended as Aborted`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			out, _, done := golden.Start(t, server, "job", "run", "hello", tc.flag)
			job := golden.WaitForJob(t, server, out, "hello")
			server.SetLog("nlp/hello-worker-0", "bye\n")
			one := golden.NewPod(job, 0, "192.168.23.24")
			if tc.phase == batchv1alpha1.Failed {
				one.Status.Phase = corev1.PodFailed
				one.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 42}}
			}
			server.SetObjects(one)
			job.Status.State.Phase = tc.phase
			if code := golden.WaitForEnd(t, server, out, done, job); code != tc.want || !strings.Contains(out.String(), tc.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, tc.want, tc.says, out)
			}
		})
	}
}

func TestRunInterruptedSaysThatTheJobGoesOn(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"--attach", "--wait"} {
		server := clitest.Start(t, golden.ClusterObjects()...)
		out, stop, _ := golden.Start(t, server, "job", "run", "hello", flag)
		golden.WaitForJob(t, server, out, "hello")
		if code := stop(); code != cli.ExitInterrupted {
			t.Errorf("%s: exit %d", flag, code)
		}
		if want := "job \"hello\" continues; use 'vcctl job logs hello -f' to follow it, or 'vcctl job cancel hello' to cancel it"; !strings.Contains(out.String(), want) {
			t.Errorf("%s: want %q:\n%s", flag, want, out)
		}
	}
}

func TestWaitTimesOutWithItsOwnCode(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	got := golden.Run{Args: "job run hello --wait --timeout 50ms"}.RunAgainst(t, server)
	if got.Code != cli.ExitPending || !strings.Contains(got.Err, "timed out waiting for job \"hello\" after 50ms") {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}

// A waiting command prints why the job waits: when the reason is known, and when it changes.
func TestWaitingForANewJobPrintsTheReason(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"job run fresh --image busybox --wait", "job run fresh --image busybox --attach"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			out, stop, _ := golden.Start(t, server, strings.Fields(args)...)
			defer stop()
			server.WaitForWatch(t)
			fresh := golden.NewJob("fresh", "default", batchv1alpha1.Pending, time.Second)
			fresh.UID = types.UID(golden.FieldText(server.CreatedObjects("Job")[0], "metadata", "uid"))
			server.SetObjects(fresh, golden.NewGroup(fresh, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue default is closed"}))
			out.WaitFor(t, `job "fresh" is waiting: QueueClosed: queue default is closed`)
		})
	}
}
