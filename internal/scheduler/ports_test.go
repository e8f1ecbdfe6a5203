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

// TestAHostPortIsFreeAlthoughTheNodeIsAsFullAsBefore ends a pod with a host port. Before the next cycle, another scheduler
// places a pod with the same request on the node, so that the free resources of the node do not change.
func TestAHostPortIsFreeAlthoughTheNodeIsAsFullAsBefore(t *testing.T) {
	t.Parallel()
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	c.Apply(model.NodeFrom(make.Node("a").CPU("4").Resource("pods", "10").Obj()), model.QueueFrom(make.Queue("default").Obj()))
	first := make.Pod("first-0").Gang("first").CPU("3").HostPort(80).On("a").Phase(corev1.PodRunning).Obj()
	c.Apply(model.GangFrom(make.Gang("first").Min(1).Obj()), model.TaskFrom(first, true))
	c.Apply(model.GangFrom(make.Gang("second").Min(1).Obj()), model.TaskFrom(make.Pod("second-0").Gang("second").CPU("1").HostPort(80).Obj(), true))
	now := make.Epoch
	for range 3 {
		now = now.Add(2 * time.Second)
		d := e.Cycle(now, c)
		decision.Assume(c, &d)
		if len(d.Binds) > 0 {
			t.Fatalf("the host port is in use, but %s is bound", d.Binds[0].Pod.Name)
		}
	}
	first.Status.Phase = corev1.PodSucceeded
	c.Apply(model.TaskFrom(first, true), model.TaskFrom(make.Pod("other").CPU("3").On("a").Phase(corev1.PodRunning).Obj(), false))
	if d := e.Cycle(now.Add(2*time.Second), c); len(d.Binds) != 1 {
		t.Errorf("%d pods are bound, want 1", len(d.Binds))
	}
}
