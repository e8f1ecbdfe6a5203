package snapshot

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
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

func TestWhatIsToldOfManyPodsDoesNotPushOutTheRest(t *testing.T) {
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

func TestWhatWasToldIsToldOnceAndOfWhatJobsHave(t *testing.T) {
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
