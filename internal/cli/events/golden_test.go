package events_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// happened adds events to the cluster: about a job, its PodGroup and its pods, two equal ones, and about a queue, a
// node, a flow and deleted objects.
func happened(s *clitest.Server) {
	eval := golden.NewJob("eval", "research", batchv1alpha1.Pending, 18*time.Minute)
	pod := golden.NewPod(eval, 0, "")
	research := golden.NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, nil)
	night := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "night", Namespace: "nlp", UID: "uid-night"}}
	served := golden.NewJob("night-serve", "default", batchv1alpha1.Running, time.Minute)
	served.Labels = map[string]string{keys.CreatedByJobFlow: "nlp.night"}
	cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "nlp", UID: "uid-nightly"}}
	s.SetObjects(night, served, cron,
		newEvent("a", "nlp", "Pod", "eval-worker-0", pod.UID, "Warning", "FailedScheduling", "no node was free", 16*time.Minute, 2),
		newEvent("b", "nlp", "Pod", "eval-worker-0", pod.UID, "Warning", "FailedScheduling", "no node was free", 5*time.Minute, 3),
		newEvent("c", "default", "Queue", "research", research.UID, "Normal", "OpenQueue", "Open queue succeed", time.Hour, 1),
		newEvent("d", "nlp", "JobFlow", "night", night.UID, "Normal", "Created", "create a job named night-serve!", time.Minute, 1),
		newEvent("e", "nlp", "Job", "night-serve", served.UID, "Normal", "CommandIssued", "served", 50*time.Second, 1),
		newEvent("f", "nlp", "Job", "gone", "uid-gone", "Warning", "JobFailed", "it failed, and was deleted after its time", 3*time.Hour, 1),
		newEvent("i", "nlp", "PodGroup", "gone-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f", "uid-gang", "Normal", "Scheduled", "pod group is ready", 4*time.Hour, 1),
		newEvent("g", "default", "Node", "192.168.23.24", "192.168.23.24", "Warning", "Rebooted", "node was rebooted", 4*time.Hour, 1),
		newEvent("h", "nlp", "CronJob", "nightly", cron.UID, "Normal", "SuccessfulCreate", "Created job nightly-1", 2*time.Hour, 1))
}

func newEvent(name, namespace, kind, about string, uid types.UID, word, reason, message string, since time.Duration, count int32) *corev1.Event {
	return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("uid-event-" + name)},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: about, UID: uid, Namespace: namespace}, Type: word, Reason: reason, Message: message,
		FirstTimestamp: golden.TimeAgo(since + time.Minute), LastTimestamp: golden.TimeAgo(since), Count: count, Source: corev1.EventSource{Component: "vcd"}}
}

func TestEventsGoldens(t *testing.T) {
	runs := golden.RunsForCommands(golden.Command{Args: "events --for job/eval", Wrong: "events --for jb/eval", Prepare: happened})
	more := func(about, args string) { runs = append(runs, golden.Run{About: about, Args: args, Prepare: happened}) }
	more("all of the namespace", "events")
	more("warnings everywhere, with all columns", "events -A --types warning -o wide")
	more("about a queue", "events queue/research")
	more("about a node", "ev node/192.168.23.24")
	more("about a job flow and its jobs", "events jobflow.flow.volcano.sh/night")
	more("about several", "events eval queue/research --sort-by object")
	more("about a cron job", "events cronjob/nightly")
	more("about the jobs of a label", "events -l "+keys.CreatedByJobFlow+"=nlp.night")
	more("about no job", "events -l team=none")
	more("about a job that is gone", "events job/gone")
	more("about a job that never was", "events evl")
	more("names", "events --for pod/eval-worker-0 -o name")
	more("a type that is none", "events --types Warn")
	more("a kind without a name", "events queue/")
	more("names everywhere", "events -A job/eval")
	golden.CompareRuns(t, "events", runs)
}

// Events of many objects are not requested one by one.
func TestEventsOfAJobOfManyPodsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	for i := range 100 {
		pod := golden.NewPod(train, i, "192.168.23.24")
		server.SetObjects(pod, newEvent(fmt.Sprint("p", i), "nlp", "Pod", pod.Name, pod.UID, "Normal", "Started", "Started container main", time.Minute, 1))
	}
	got := golden.Run{Args: "events job/train --no-headers"}.RunAgainst(t, server)
	if lines := count(got.Out); got.Code != 0 || lines != 101 {
		t.Errorf("exit %d, %d rows, want 101: %s", got.Code, lines, got.Err)
	}
	asked := 0
	for _, request := range server.Requests() {
		if request == "GET /api/v1/namespaces/nlp/events" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("events were asked for %d times, want once", asked)
	}
}

func count(text string) int {
	lines := 0
	for _, r := range text {
		if r == '\n' {
			lines++
		}
	}
	return lines
}
