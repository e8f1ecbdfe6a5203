package session

import (
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

func TestOnlyPodsThatMayBeEvictedCountAsPreemptible(t *testing.T) {
	t.Parallel()
	g := &model.Gang{}
	add := func(status model.Status, preemptable, critical bool) {
		one := task(1)
		one.Status, one.Preemptable, one.Critical = status, preemptable, critical
		g.Tasks = append(g.Tasks, one)
	}
	add(model.Running, true, false)
	add(model.Bound, true, false)
	add(model.Pending, true, false)
	add(model.Releasing, true, false)
	add(model.Running, false, false)
	add(model.Running, true, true)
	g.Sums.Elastic.Add(task(1).Shape.Request)
	var minimums, all resource.Vec
	addPreemptible(&minimums, &all, g)
	if minimums.Get(resource.CPU) != 1 || all.Get(resource.CPU) != 2 {
		t.Errorf("%d of the minimum and %d in all, want 1 and 2", minimums.Get(resource.CPU), all.Get(resource.CPU))
	}
}
