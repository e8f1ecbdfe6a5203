package scheduler_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestAForkIsACopy forks a random cluster twice. One fork and the cluster itself then change independently. The other
// fork must still lead to the same decisions as the first one did at the start, and the cluster to the same decisions
// as without forks.
func TestAForkIsACopy(t *testing.T) {
	propertytest.Check(t, 2000, func(t *rapid.T) {
		r := newRandom(t)
		r.Rich = true
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		first, second := r.Model.Fork(), r.Model.Fork()
		now := r.Now
		decide := func(c *model.Cluster) decision.Decisions {
			e, err := scheduler.New(r.Config)
			if err != nil {
				t.Fatal(err)
			}
			return e.Cycle(now, c)
		}
		before := decide(first)
		if diff := cmp.Diff(decide(r.Model), before); diff != "" {
			t.Fatalf("a fork leads to other decisions (-cluster +fork):\n%s", diff)
		}
		decision.Assume(first, &before)
		for i := range before.Binds {
			first.Apply(model.TaskGone{Namespace: before.Binds[i].Pod.Namespace, Name: before.Binds[i].Pod.Name})
		}
		if diff := cmp.Diff(decide(r.Model), decide(second)); diff != "" {
			t.Fatalf("after changes of a fork the cluster leads to other decisions (-cluster +other fork):\n%s", diff)
		}
		for range rapid.IntRange(1, 8).Draw(t, "more steps") {
			r.Change()
			r.Decide()
		}
		if diff := cmp.Diff(before, decide(second)); diff != "" {
			t.Fatalf("after changes of the cluster a fork leads to other decisions (-before +after):\n%s", diff)
		}
	})
}
