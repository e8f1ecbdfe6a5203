package scheduler

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

func TestAQueueIsWrittenWhenWhatItHoldsChangesNotWhatItDeserves(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()))
	w.model.Apply(gangOf("g", 1, 1, "2")...)
	w.cycle()
	if d := w.cycle(); len(d.Queues)+len(d.Stats.Queues) != 0 {
		t.Fatalf("nothing changed, yet written %v, counted %v", d.Queues, d.Stats.Queues)
	}
	w.model.Apply(model.QueueFrom(make.Queue("other").Obj()))
	w.model.Apply(gangOf("h", 9, 9, "4")...) // asks for more than there is: what default deserves changes
	d := w.cycle()
	if len(d.Queues) != 0 {
		t.Errorf("written though no queue holds more or less: %v", d.Queues)
	}
	if len(d.Stats.Queues) == 0 || d.Stats.Queues[0].Deserved.Cpu().IsZero() {
		t.Errorf("metrics are told %v, want what default deserves now", d.Stats.Queues)
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
	q.Status.Allocated = d.Queues[0].Allocated
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
