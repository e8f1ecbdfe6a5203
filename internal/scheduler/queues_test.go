package scheduler

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

func TestAQueueIsWrittenWhenItStandsDifferentlyOnceASecondAtMost(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	w.model.Apply(gangOf("g", 1, 1, "2")...)
	w.cycle()
	if d := w.cycle(); len(d.Queues)+len(d.Stats.Queues) != 0 {
		t.Fatalf("nothing changed, yet written %v, counted %v", d.Queues, d.Stats.Queues)
	}
	w.model.Apply(model.QueueFrom(make.Queue("other").Obj()))
	w.model.Apply(gangOf("h", 9, 9, "4")...) // requests more than the cluster has, so the deserved resources of default change
	d := w.cycle()
	if len(d.Stats.Queues) == 0 || d.Stats.Queues[0].Deserved.Cpu().IsZero() {
		t.Errorf("metrics are told %v, want what default deserves now", d.Stats.Queues)
	}
	written := 0
	for range 20 {
		w.now = w.now.Add(100 * time.Millisecond)
		d := w.engine.Cycle(w.now, w.model)
		decision.Assume(w.model, &d)
		written += len(d.Queues)
	}
	q := w.model.Queues["default"].Published
	if q.Waiting != 1 || q.Deserved.Cpu().Value() != 4 || q.SharePercent != 50 {
		t.Errorf("default is said to stand at %+v, want one that waits, 4 cpu deserved, half used", q)
	}
	if written > 1 {
		t.Errorf("written %d times in two seconds, want once at most", written)
	}
}

func TestARestartWritesNoQueueThatSaysItAlready(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	w.model.Apply(model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true))
	w.model.Apply(model.GangFrom(make.Gang("g").Obj()))
	d := w.cycle()
	if len(d.Queues) != 1 {
		t.Fatalf("written %v, want default", d.Queues)
	}
	q := make.Queue("default").Obj()
	told := d.Queues[0]
	q.Status.Allocated, q.Status.Deserved, q.Status.Share, q.Status.Waiting = told.Allocated, told.Deserved, told.SharePercent, told.Waiting
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.QueueFrom(q), model.NodeFrom(make.Node("a").CPU("4").Obj()))
	c.Apply(model.TaskFrom(make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj(), true), model.GangFrom(make.Gang("g").Obj()))
	again := e.Cycle(w.now, c)
	if len(again.Queues) != 0 {
		t.Errorf("a restart writes %v, which is what the queue says", again.Queues)
	}
	if len(again.Stats.Queues) != 1 || again.Stats.Queues[0].Allocated.Cpu().Value() != 2 {
		t.Errorf("metrics are told %v, want 2 CPU in default", again.Stats.Queues)
	}
}

func TestFiguresOfAQueueAndAGangGoWithThem(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	w.model.Apply(model.QueueFrom(make.Queue("other").Weight(3).Capability("cpu", "3").Obj()))
	w.model.Apply(gangOf("g", 1, 1, "2")...)
	w.model.Apply(gangOf("h", 2, 2, "4")...)
	d := w.cycle()
	var other *decision.QueueFigures
	for i := range d.Stats.Queues {
		if d.Stats.Queues[i].Queue == "other" {
			other = &d.Stats.Queues[i]
		}
	}
	if other == nil || other.Weight != 3 || other.Capacity.Cpu().Value() != 3 || other.Overused {
		t.Fatalf("of queue other metrics are told %+v", other)
	}
	if got := d.Stats.Gangs; len(got) != 2 || got[0].Unready != 0 || got[1].Unready != 2 || got[1].Tries == 0 {
		t.Errorf("of the gangs metrics are told %+v, want that two pods of h have no node", got)
	}
	if d = w.cycle(); len(d.Stats.Gangs) == 0 || d.Stats.Gangs[0].Share != 0.5 {
		t.Errorf("of the gang that runs metrics are told %+v, want half of the cluster", d.Stats.Gangs)
	}
	gang := w.model.Gangs["default/g"]
	w.model.Apply(model.QueueGone{Name: "other"}, model.GangGone{Namespace: gang.Namespace, Name: gang.Name, UID: gang.UID})
	if d = w.cycle(); !slices.Equal(d.Stats.QueuesGone, []string{"other"}) || len(d.Stats.GangsGone) != 1 || d.Stats.GangsGone[0].Name != gang.Name {
		t.Errorf("gone are queues %v and gangs %v, want other and %s", d.Stats.QueuesGone, d.Stats.GangsGone, gang.Name)
	}
	if d = w.cycle(); len(d.Stats.QueuesGone)+len(d.Stats.GangsGone) != 0 {
		t.Error("what is gone is told twice")
	}
}

// TestTheStatusOfAnEmptyQueueIsWrittenAgainAfterAFailure verifies that a failed write is not taken for an empty status.
func TestTheStatusOfAnEmptyQueueIsWrittenAgainAfterAFailure(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	pod := make.Pod("p").Gang("g").CPU("2").On("a").Phase(corev1.PodRunning).Obj()
	w.model.Apply(model.TaskFrom(pod, true), model.GangFrom(make.Gang("g").Obj()))
	w.cycle()
	pod.Status.Phase = corev1.PodSucceeded
	w.model.Apply(model.TaskFrom(pod, true))
	isWritten := func() bool {
		w.now = w.now.Add(2 * time.Second)
		d := w.engine.Cycle(w.now, w.model)
		decision.Assume(w.model, &d)
		return slices.ContainsFunc(d.Queues, func(q decision.QueueStatus) bool { return q.Queue == "default" && q.Allocated.Cpu().IsZero() })
	}
	if !isWritten() {
		t.Fatal("the status of the empty queue is not written")
	}
	w.model.Apply(model.QueueStatusFailed{Name: "default"})
	if !isWritten() {
		t.Error("the status is not written again after a failure")
	}
	if isWritten() {
		t.Error("the status is written again although the last write did not fail")
	}
}
