package snapshot

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/test/make"
)

var now = time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)

func works(b *make.NodeBuilder) *corev1.Node {
	node := b.Obj()
	node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})
	return node
}

func TestASnapshotSaysWhatNodesHaveAndHaveLeft(t *testing.T) {
	t.Parallel()
	pod := make.Pod("p").CPU("1").GPU(3).On("a").Obj()
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "train", UID: "train"}}
	s, err := Of(now, works(make.Node("b").CPU("4")), works(make.Node("a").CPU("4").Memory("8Gi").GPU(8)), pod)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Node("a")
	if a.Idle.MilliCPU != 3000 || a.Idle.Devices["nvidia.com/gpu"] != 5 || a.State != nodecapacity.StateMixed {
		t.Errorf("%+v", a)
	}
	if s.Nodes[0] != a || s.Node("b").State != nodecapacity.StateIdle {
		t.Errorf("%+v", s.Nodes)
	}
	if diff := cmp.Diff(3, len(s.Resources)); diff != "" {
		t.Error(diff)
	}
}

// TestPodsThatHaveEndedAreNoLoadOfTheirNode verifies that a node with only completed and failed pods is idle and, once
// cordoned, drained.
func TestPodsThatHaveEndedAreNoLoadOfTheirNode(t *testing.T) {
	t.Parallel()
	objects := []runtime.Object{works(make.Node("idle").CPU("4")), works(make.Node("cordoned").CPU("4")), works(make.Node("busy").CPU("4"))}
	objects[1].(*corev1.Node).Spec.Unschedulable = true
	for i, phase := range []corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed, corev1.PodRunning} {
		for _, node := range []string{"idle", "cordoned", "busy"} {
			if phase == corev1.PodRunning && node != "busy" {
				continue
			}
			pod := make.Pod(fmt.Sprint(node, i)).CPU("1").On(node).Obj()
			pod.UID, pod.Status.Phase = types.UID(pod.Name), phase
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: "train", UID: "train"}}
			objects = append(objects, pod)
		}
	}
	s, err := Of(now, objects...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]nodecapacity.State{"idle": nodecapacity.StateIdle, "cordoned": nodecapacity.StateDrained, "busy": nodecapacity.StateMixed} {
		if got := s.Node(name).State; got != want {
			t.Errorf("node %s is %s, want %s", name, got, want)
		}
	}
	if n := len(s.Node("busy").Pods); n != 1 {
		t.Errorf("the busy node has %d pods, want the running one", n)
	}
}

// TestAQueueCountsThePodsOfItsTree verifies that a queue counts the pods on nodes of its jobs and of the jobs in its
// child queues, and none if pods are not visible.
func TestAQueueCountsThePodsOfItsTree(t *testing.T) {
	t.Parallel()
	b := NewBoard()
	for name, parent := range map[string]string{"root": "", "team": "root"} {
		q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		q.Spec.Parent = parent
		b.SetQueue(q)
	}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "train", UID: "train"}}
	job.Spec.Queue = "team"
	b.SetJob(job)
	counts := func() [2]int {
		s := b.TakeSnapshot(now, Facts{})
		return [2]int{s.Queue("root").Pods, s.Queue("team").Pods}
	}
	if got := counts(); got != [2]int{0, 0} {
		t.Errorf("without pods: %v", got)
	}
	for i, phase := range []corev1.PodPhase{corev1.PodRunning, corev1.PodRunning, corev1.PodSucceeded} {
		b.SetPod(&Pod{UID: types.UID(fmt.Sprint(i)), Name: fmt.Sprint(i), Node: "n", JobUID: "train", Phase: phase, Exited: phase == corev1.PodSucceeded})
	}
	if got := counts(); got != [2]int{2, 2} {
		t.Errorf("with two running pods: %v", got)
	}
	b.SetUnknown(Pods, true)
	if got := counts(); got != [2]int{-1, -1} {
		t.Errorf("if pods are not visible: %v", got)
	}
}

// TestThePriorityOfAnUnknownClassIsUnknown verifies that a job whose priority class is not visible has no known
// priority, and that it is known as soon as the class is.
func TestThePriorityOfAnUnknownClassIsUnknown(t *testing.T) {
	t.Parallel()
	b := NewBoard()
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "urgent", UID: "urgent"}}
	job.Spec.PriorityClassName = "high"
	b.SetJob(job)
	b.SetJob(&batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "plain", UID: "plain"}})
	s := b.TakeSnapshot(now, Facts{})
	if got := s.Job("urgent").PriorityText() + s.Job("plain").PriorityText(); got != "?0" {
		t.Errorf("without the class, the priorities are %q, want ? and 0", got)
	}
	b.SetPriority("high", 1000)
	if got := b.TakeSnapshot(now, Facts{}).Job("urgent").PriorityText(); got != "1000" {
		t.Errorf("with the class, the priority is %q", got)
	}
}

func TestEventsOfManyPodsDoNotDisplaceOtherEvents(t *testing.T) {
	t.Parallel()
	b := NewBoard()
	b.AddEvent(&Event{UID: "evicted", Kind: "PodGroup", At: now.Add(-time.Hour)})
	for i := range 5000 {
		b.AddEvent(&Event{UID: types.UID(fmt.Sprint(i)), Kind: "Pod", At: now.Add(-time.Duration(i) * time.Second)})
	}
	s := b.TakeSnapshot(now, Facts{})
	if len(s.Events) != maxEvents+1 || s.Events[0].UID != "evicted" || s.Events[maxEvents].UID != "0" {
		t.Errorf("%d events from %+v", len(s.Events), s.Events[0])
	}
}

func TestEventsOfJobsAreReportedOnce(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	b := NewBoard()
	told := func(uid, kind, of string, ago time.Duration, count int32) *Event {
		return &Event{UID: types.UID(uid), Kind: kind, Of: types.UID(of), At: now.Add(-ago), Count: count}
	}
	b.SetPod(&Pod{UID: "dns"})
	b.SetPod(&Pod{UID: "worker", JobUID: "train"})
	steps := []struct {
		event *Event
		news  bool
		says  string
	}{
		{told("a", "Pod", "worker", time.Minute, 1), true, "a warning of a job's pod"},
		{told("a", "Pod", "worker", time.Minute, 1), false, "the same, from a list"},
		{told("a", "Pod", "worker", time.Second, 2), true, "the same, told again"},
		{told("b", "Pod", "dns", 0, 1), false, "a warning of a pod that no job has"},
		{told("c", "Pod", "late", 0, 1), true, "a warning of a pod that is not known yet"},
		{told("d", "Job", "train", 0, 1), true, "an event of a job"},
	}
	for _, step := range steps {
		if news := b.AddEvent(step.event); news != step.news {
			t.Errorf("%s: changes something: %v", step.says, news)
		}
	}
	if s := b.TakeSnapshot(now, Facts{}); len(s.Events) != 3 {
		t.Errorf("%d events", len(s.Events))
	}
	b.SetPod(&Pod{UID: "late"})
	if s := b.TakeSnapshot(now, Facts{}); len(s.Events) != 2 {
		t.Errorf("%d events after the pod turned out to be of no job", len(s.Events))
	}
	b.ForgetEvents(true)
	if s := b.TakeSnapshot(now, Facts{}); len(s.Events) != 1 || s.Events[0].UID != "d" {
		t.Errorf("%d events without those of pods", len(s.Events))
	}
	for i := range 3 * maxEvents {
		b.AddEvent(told(fmt.Sprint(i), "Job", "train", time.Duration(3*maxEvents-i)*time.Second, 1))
	}
	if b.AddEvent(told("0", "Job", "train", 3*maxEvents*time.Second, 1)) {
		t.Error("what gave way to newer ones comes back from a list")
	}
}
