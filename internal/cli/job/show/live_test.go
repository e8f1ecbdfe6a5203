package show_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestWatchAppendsRowsThatChanged(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "-w")
	out.WaitFor(t, "train")
	plain := golden.NewJob("plain", "default", batchv1alpha1.Running, 30*time.Second)
	plain.Status.Running = 1
	server.SetObjects(plain)
	out.WaitFor(t, "plain    default    Running     1/1")
	lines := strings.Count(out.String(), "\n")
	server.SetObjects(plain) // no cell of a row has changed
	fresh := golden.NewJob("zz", "default", batchv1alpha1.Pending, 0)
	server.SetObjects(fresh)
	out.WaitFor(t, "zz       default    Pending")
	if got := strings.Count(out.String(), "\n"); got != lines+1 {
		t.Errorf("%d lines were added, want 1:\n%s", got-lines, out)
	}
	if strings.Count(out.String(), "NAME") != 1 {
		t.Errorf("the titles are printed again:\n%s", out)
	}
	if code := stop(); code != cli.ExitInterrupted {
		t.Errorf("exit %d, want %d", code, cli.ExitInterrupted)
	}
}

func TestWatchSeesAReasonThatChangedInThePodGroup(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "plain", "-w")
	out.WaitFor(t, "NotEnoughResources")
	plain := golden.NewJob("plain", "default", batchv1alpha1.Pending, 30*time.Second)
	server.SetObjects(golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue default is closed"}))
	out.WaitFor(t, "QueueClosed: queue default is closed")
	stop()
}

// A job that stops matching the filter is printed once more in its new state; later changes of its PodGroup are not
// printed.
func TestWatchTellsWhatLeavesTheFilterOnce(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "--phase", "Pending", "-w")
	out.WaitFor(t, "NotEnoughResources")
	plain := golden.NewJob("plain", "default", batchv1alpha1.Running, 30*time.Second)
	plain.Status.Running = 1
	server.SetObjects(plain)
	out.WaitFor(t, "plain   default    Running")
	said := func(reason string) *schedulingv1beta1.Explanation {
		return &schedulingv1beta1.Explanation{Reason: reason, Message: "since then"}
	}
	eval := golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	server.SetObjects(golden.NewGroup(plain, schedulingv1beta1.PodGroupPending, said("NoMore")))
	server.SetObjects(golden.NewGroup(eval, schedulingv1beta1.PodGroupPending, said("QueueClosed")))
	out.WaitFor(t, "QueueClosed") // printed in the order of the events
	if got := strings.Count(out.String(), "plain "); got != 2 || strings.Contains(out.String(), "NoMore") {
		t.Errorf("the job that runs has %d rows, want the one as it waited and the one as it runs:\n%s", got, out)
	}
	plain.Status.State.Phase = batchv1alpha1.Pending
	server.SetObjects(plain)
	out.WaitFor(t, "NoMore") // it matches again
	stop()
}

func TestWatchOfNothingBeginsWithTheTitles(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		args  []string
		first client.Object
	}{
		"queues":                  {[]string{"queue", "list", "-w"}, golden.NewQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil)},
		"jobs":                    {[]string{"job", "list", "-w"}, golden.NewJob("plain", "default", batchv1alpha1.Pending, 0)},
		"jobs in all namespaces":  {[]string{"job", "list", "-A", "-w"}, golden.NewJob("plain", "default", batchv1alpha1.Pending, 0)},
		"jobs, only what changes": {[]string{"job", "list", "--watch-only"}, golden.NewJob("plain", "default", batchv1alpha1.Pending, 0)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t)
			out, stop, _ := golden.Start(t, server, c.args...)
			for len(server.Requests()) < 2 { // the list, then the watch
				time.Sleep(time.Millisecond)
			}
			server.SetObjects(c.first)
			out.WaitFor(t, "default")
			if !strings.HasPrefix(out.String(), "NAME") {
				t.Errorf("no titles:\n%s", out)
			}
			stop()
		})
	}
}

func TestViewWatchShowsTheJobUntilItHasEnded(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, _, done := golden.Start(t, server, "job", "view", "train", "-w", "--events=false")
	out.WaitFor(t, "Phase:       Running")
	train := golden.NewJob("train", "research", batchv1alpha1.Completed, 2*time.Hour)
	if code := golden.WaitForEnd(t, server, out, done, train); code != 0 || !strings.Contains(out.String(), "Phase:       Completed") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// An event of one job does not change the rows of other jobs, including their node counts.
func TestWatchKeepsTheNodesOfOtherJobs(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "-o", "wide", "-w")
	out.WaitFor(t, "train")
	eval := golden.NewJob("eval", "research", batchv1alpha1.Running, time.Minute)
	server.SetObjects(eval)
	out.WaitFor(t, "eval     research   Running")
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Status.RetryCount = 2
	before := out.String()
	server.SetObjects(golden.NewGroup(train, schedulingv1beta1.PodGroupRunning, &schedulingv1beta1.Explanation{Reason: "GangDoesNotFit", Message: "one more"}))
	out.WaitFor(t, "one more")
	row := out.String()[len(before):]
	first, _, _ := strings.Cut(before[strings.Index(before, "\ntrain"):][1:], "\n")
	if fields, now := strings.Fields(first), strings.Fields(row); fields[8] == "-" || now[8] != fields[8] {
		t.Errorf("train was on %s nodes, and is on %s:\n%s%s", fields[8], now[8], before, row)
	}
	stop()
}

// Missing names are reported, and the existing ones are followed.
func TestWatchTellsWhichNamesAreMissing(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	out, stop, _ := golden.Start(t, server, "job", "list", "train", "nosuch", "-w")
	out.WaitFor(t, `error: job "nosuch" does not exist in namespace "nlp"`)
	out.WaitFor(t, "train")
	stop()
}

// mostForTenThousand allows for a slow and busy machine: on an idle one, the list takes about a second.
const mostForTenThousand = 30 * time.Second

// Ten thousand jobs are listed in pages, in a time that rules out expensive work per job. test/bench checks the time
// itself.
func TestTenThousandJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("builds ten thousand objects")
	}
	var objects []client.Object
	for i := range 10000 {
		objects = append(objects, golden.NewJob(fmt.Sprintf("job-%05d", i), "default", batchv1alpha1.Completed, time.Hour))
	}
	server := clitest.Start(t, objects...)
	start := time.Now()
	got := golden.Run{Args: "job list"}.RunAgainst(t, server)
	if lines := strings.Count(got.Out, "\n"); got.Code != 0 || lines != 10001 {
		t.Fatalf("exit %d, %d lines: %s", got.Code, lines, got.Err)
	}
	if n := len(server.Requests()); n != 20 {
		t.Errorf("%d requests, want 20 pages", n)
	}
	if took := time.Since(start); took > mostForTenThousand {
		t.Errorf("10000 jobs in %s, this test's server included; want %s at most", took, mostForTenThousand)
	}
}
