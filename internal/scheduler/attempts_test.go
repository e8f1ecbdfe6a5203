package scheduler

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// TestFiguresOfAPreemption lets a gang of two pods wait for the pods of another gang. Each action that searches for
// victims counts an attempt for each of the two pods.
func TestFiguresOfAPreemption(t *testing.T) {
	w := newWorld(t, model.NodeFrom(make.Node("a").CPU("4").Obj()), model.PriorityClassSet{Name: "high", Value: 1000})
	w.model.Apply(model.GangFrom(make.Gang("low").Obj()), model.TaskFrom(make.Pod("low-0").Gang("low").CPU("4").On("a").Phase(corev1.PodRunning).Obj(), true))
	if d := w.cycle(); d.Stats.PreemptionAttempts != 0 || len(d.Stats.TaskWaits) != 0 {
		t.Errorf("nothing waits, but there are %d attempts and %d waits", d.Stats.PreemptionAttempts, len(d.Stats.TaskWaits))
	}
	w.model.Apply(model.GangFrom(make.Gang("high").Min(2).PriorityClass("high").Obj()))
	for _, name := range []string{"high-0", "high-1"} {
		w.model.Apply(model.TaskFrom(make.Pod(name).Gang("high").CPU("2").Priority(1000).Age(0).Obj(), true))
	}
	d := w.cycle()
	if len(d.Evicts) != 1 || d.Evicts[0].Queue != "default" || d.Evicts[0].PreemptorQueue != "default" {
		t.Fatalf("evicted %+v, want low-0 of queue default for queue default", d.Evicts)
	}
	if n := d.Stats.PreemptionAttempts; n != 4 { // reclaim finds nothing, and preempt finds low-0
		t.Errorf("%d attempts, want 4", n)
	}
	w.model.Apply(model.TaskGone{Namespace: "default", Name: "low-0", UID: d.Evicts[0].Pod.UID})
	d = w.cycle()
	if waited := w.now.Sub(make.Epoch); !slices.Equal(d.Stats.TaskWaits, []time.Duration{waited, waited}) {
		t.Errorf("the pods waited %v, want %s each", d.Stats.TaskWaits, waited)
	}
}
