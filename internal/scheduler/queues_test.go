package scheduler

import (
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
	w.model.Apply(gangOf("h", 9, 9, "4")...) // asks for more than there is: what default deserves changes
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
