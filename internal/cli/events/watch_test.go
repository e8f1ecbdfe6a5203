package events_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func TestEventsFollowAJobAndThePodsThatItGetsLater(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	happened(server)
	out, stop, _ := golden.Start(t, server, "events", "job/eval", "-w")
	out.WaitFor(t, "FailedScheduling")
	eval := golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	later := golden.NewPod(eval, 7, "192.168.23.24")
	stranger := golden.NewPod(golden.NewJob("eval-worker", "research", batchv1alpha1.Running, time.Minute), 1, "192.168.23.24")
	server.SetObjects(later, stranger,
		newEvent("x", "nlp", "Pod", stranger.Name, stranger.UID, "Normal", "Started", "of another job with such a name", 0, 1),
		newEvent("y", "nlp", "Pod", later.Name, later.UID, "Normal", "Started", "the pod that came later", 0, 1))
	out.WaitFor(t, "the pod that came later")
	again := newEvent("b", "nlp", "Pod", "eval-worker-0", "uid-eval-worker-0", "Warning", "FailedScheduling", "no node was free", 0, 4)
	server.SetObjects(again)
	out.WaitFor(t, "0s     6       Warning   FailedScheduling")
	lines := strings.Count(out.String(), "\n")
	server.SetObjects(again) // prints nothing new
	server.RemoveObject(again)
	server.SetObjects(newEvent("z", "nlp", "Pod", later.Name, later.UID, "Normal", "Killing", "the end", 0, 1))
	out.WaitFor(t, "the end")
	if got := strings.Count(out.String(), "\n"); got != lines+1 {
		t.Errorf("%d rows were added, want 1:\n%s", got-lines, out)
	}
	if strings.Contains(out.String(), "of another job") {
		t.Errorf("it tells of another job:\n%s", out)
	}
	stop()
}

func TestEventsOfAQueueAreWatchedByItsUID(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	happened(server)
	out, stop, _ := golden.Start(t, server, "events", "queue/research", "-w")
	out.WaitFor(t, "OpenQueue")
	stop()
	for i, request := range server.Requests() {
		if strings.HasSuffix(request, "/events") && !strings.Contains(server.Queries()[i], "involvedObject.uid=uid-queue-research") {
			t.Errorf("%s?%s asks for events about others", request, server.Queries()[i])
		}
	}
}
