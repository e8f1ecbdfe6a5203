package scheduler

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestMovedPromiseIsReported checks that a promise that moves is also published in a cycle without evictions,
// because the API contains the nominated node of a pod and a restarted scheduler relies on it. A promise that was
// never published is not.
func TestMovedPromiseIsReported(t *testing.T) {
	for name, published := range map[string]string{"the API names the first node": "a", "nothing was told": ""} {
		e, err := New(config.Default())
		if err != nil {
			t.Fatal(err)
		}
		m := model.New()
		m.Apply(model.QueueFrom(make.Queue("default").Obj()))
		leaving := func(name, node string) {
			g := make.Gang(name).Queue("default").Obj()
			g.UID = types.UID(name)
			p := make.Pod(name + "-0").Gang(name).CPU("2").Obj()
			by := metav1.NewTime(make.Epoch.Add(time.Minute))
			p.Spec.NodeName, p.Status.Phase, p.DeletionTimestamp = node, corev1.PodRunning, &by
			m.Apply(model.NodeFrom(make.Node(node).CPU("2").Obj()), model.GangFrom(g), model.TaskFrom(p, true))
		}
		leaving("first", "a")
		waits := make.Pod("waits-0").Gang("waits").CPU("2").Obj()
		waits.Status.NominatedNodeName = published
		m.Apply(model.GangFrom(make.Gang("waits").Queue("default").Obj()), model.TaskFrom(waits, true))
		d := e.Cycle(make.Epoch, m)
		decision.Assume(m, &d)
		leaving("second", "b")
		m.Apply(model.NodeFrom(make.Node("a").CPU("2").Cordon().Obj()))
		d = e.Cycle(make.Epoch.Add(time.Second), m)
		if len(d.Nominations) != 1 || d.Nominations[0].Node != "b" || d.Nominations[0].Publish != (published != "") {
			t.Errorf("%s: %+v, want one of node b, published: %v", name, d.Nominations, published != "")
		}
	}
}

// TestAPodIsNotBoundToItsNominatedNodeAfterTheNodeIsDeleted verifies that a gang of two pods waits if only one of them
// fits and the other one was nominated for a node that does not exist any more.
func TestAPodIsNotBoundToItsNominatedNodeAfterTheNodeIsDeleted(t *testing.T) {
	for _, others := range [][]string{{"b"}, {"b", "c"}, {"b", "c", "d"}, {"b", "c", "d", "e"}} {
		for _, large := range others {
			e, err := New(config.Default())
			if err != nil {
				t.Fatal(err)
			}
			m := model.New()
			m.Apply(model.QueueFrom(make.Queue("default").Obj()))
			for _, name := range others {
				cpu := "1"
				if name == large {
					cpu = "2"
				}
				m.Apply(model.NodeFrom(make.Node(name).CPU(cpu).Obj()))
			}
			first, second := make.Pod("waits-0").Gang("waits").CPU("2").Obj(), make.Pod("waits-1").Gang("waits").CPU("2").Obj()
			first.Status.NominatedNodeName = "gone"
			m.Apply(model.GangFrom(make.Gang("waits").Queue("default").Min(2).Obj()), model.TaskFrom(first, true), model.TaskFrom(second, true))
			if d := e.Cycle(make.Epoch, m); len(d.Binds) != 0 {
				t.Errorf("nodes %v, of which only %s has enough for a pod: %+v, want no bind", others, large, d.Binds)
			}
		}
	}
}

// TestANominationDoesNotExceedTheCapability verifies that a gang whose pods were nominated before a restart is not bound
// while the pod that was to be evicted for it still runs and fills the queue.
func TestANominationDoesNotExceedTheCapability(t *testing.T) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	m := model.New()
	m.Apply(model.QueueFrom(make.Queue("limited").Capability("cpu", "4").Obj()))
	for _, name := range []string{"a", "b", "c"} {
		m.Apply(model.NodeFrom(make.Node(name).CPU("4").Obj()))
	}
	runs := make.Pod("runs-0").Gang("runs").CPU("3").Obj()
	runs.Spec.NodeName, runs.Status.Phase = "a", corev1.PodRunning
	m.Apply(model.GangFrom(make.Gang("runs").Queue("limited").Obj()), model.TaskFrom(runs, true))
	m.Apply(model.GangFrom(make.Gang("waits").Queue("limited").Min(2).Obj()))
	for _, name := range []string{"waits-0", "waits-1"} {
		waits := make.Pod(name).Gang("waits").CPU("2").Obj()
		waits.Status.NominatedNodeName = "b"
		m.Apply(model.TaskFrom(waits, true))
	}
	d := e.Cycle(make.Epoch, m)
	if len(d.Binds) != 0 {
		t.Errorf("%+v, want no bind: 3 of 4 cores of the queue are used, and the gang needs 4", d.Binds)
	}
}

// TestANominationSurvivesALossOfNodesBesideAGuarantee verifies that a gang keeps its nomination, for which a pod is already
// terminating, if the deletion of a node leaves less beside the guarantee of another queue.
func TestANominationSurvivesALossOfNodesBesideAGuarantee(t *testing.T) {
	parsed, _, err := config.Parse([]byte(`
actions: "enqueue, allocate, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: predicates}, {name: capacity, enableHierarchy: true}]
`))
	if err != nil {
		t.Fatal(err)
	}
	e, err := New(parsed)
	if err != nil {
		t.Fatal(err)
	}
	m := model.New()
	m.Apply(model.QueueFrom(make.Queue("root").Obj()), model.QueueFrom(make.Queue("guaranteed").Parent("root").Guarantee("cpu", "4").Deserved("cpu", "4").Obj()),
		model.QueueFrom(make.Queue("full").Parent("root").Obj()))
	m.Apply(model.GangFrom(make.Gang("runs").Queue("full").Obj()))
	for i, node := range []string{"a", "b", "c", "d", "e"} {
		runs := make.Pod("runs-" + node).Gang("runs").CPU("4").Obj()
		runs.Spec.NodeName, runs.Status.Phase = node, corev1.PodRunning
		if i == 0 {
			by := metav1.NewTime(make.Epoch.Add(time.Minute))
			runs.DeletionTimestamp = &by
		}
		m.Apply(model.NodeFrom(make.Node(node).CPU("4").Obj()), model.TaskFrom(runs, true))
	}
	waits := make.Pod("waits-0").Gang("waits").CPU("4").Obj()
	waits.Status.NominatedNodeName = "a"
	m.Apply(model.GangFrom(make.Gang("waits").Queue("full").Obj()), model.TaskFrom(waits, true))
	d := e.Cycle(make.Epoch, m)
	for _, n := range d.Nominations {
		if n.Node != "a" {
			t.Errorf("%+v, want that the nomination for node a stays", n)
		}
	}
	if len(d.Binds)+len(d.Evicts) > 0 {
		t.Errorf("binds %v, evictions %v, want none", d.Binds, d.Evicts)
	}
}
