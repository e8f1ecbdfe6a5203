package scheduler

import (
	"fmt"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// world is an engine with its model and a clock.
type world struct {
	t      testing.TB
	engine *Engine
	model  *model.Cluster
	now    time.Time
}

func newWorld(t testing.TB, deltas ...model.Delta) *world {
	t.Helper()
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, engine: e, model: model.New(), now: make.Epoch}
	w.model.Apply(model.QueueFrom(make.Queue("default").Obj()))
	w.model.Apply(deltas...)
	return w
}

func (w *world) cycle() decision.Decisions {
	w.now = w.now.Add(2 * time.Second)
	d := w.engine.Cycle(w.now, w.model)
	decision.Assume(w.model, &d)
	return d
}

func gangOf(name string, tasks, minimum int, cpu string) []model.Delta {
	deltas := []model.Delta{model.GangFrom(make.Gang(name).Min(minimum).Obj())}
	for i := range tasks {
		deltas = append(deltas, model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", name, i)).Gang(name).CPU(cpu).Obj(), true))
	}
	return deltas
}

func TestGang(t *testing.T) {
	t.Run("a gang that fits is bound whole in one cycle", func(t *testing.T) {
		w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Memory("8Gi").Obj()))
		w.model.Apply(gangOf("g", 4, 4, "1")...)
		if d := w.cycle(); len(d.Binds) != 4 {
			t.Fatalf("binds: %+v\n%+v", d.Binds, d.Gangs)
		}
	})
	t.Run("a gang that does not fit leaves no trace and is told why", func(t *testing.T) {
		w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Memory("8Gi").Obj()))
		w.model.Apply(gangOf("g", 6, 6, "1")...)
		d := w.cycle()
		if len(d.Binds) != 0 || len(d.Gangs) != 1 {
			t.Fatalf("%+v", d)
		}
		t.Logf("%+v", d.Gangs[0].Status)
		w.model.Apply(model.NodeFrom(make.Node("b").CPU("4").Memory("8Gi").Obj()))
		if d := w.cycle(); len(d.Binds) != 6 {
			t.Fatalf("binds: %+v\n%+v", d.Binds, d.Gangs)
		}
	})
}
