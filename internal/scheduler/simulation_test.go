package scheduler_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
	"github.com/vc-batch/vc/test/propertytest"
)

// modelWatch is a policy without effect. Its rules, which every simulated round calls, compare the model with the model
// at the begin of the cycle.
type modelWatch struct {
	t     *rapid.T
	calls int
}

func (*modelWatch) Name() string        { return "model-watch" }
func (*modelWatch) Reads() config.Reads { return config.Reads{} }

func (w *modelWatch) Open(s *session.Session) {
	before := describeModel(s.Cluster)
	unchanged := func() explain.Verdict {
		w.calls++
		if diff := cmp.Diff(before, describeModel(s.Cluster)); diff != "" {
			w.t.Fatalf("the cycle has written the model (-before +now):\n%s", diff)
		}
		return explain.Verdict{}
	}
	s.Rules.Overused = append(s.Rules.Overused, func(*queue.Queue) explain.Verdict { return unchanged() })
	s.Rules.Allocatable = append(s.Rules.Allocatable, func(*queue.Queue, resource.Request) explain.Verdict { return unchanged() })
}

// describeModel returns the values of a model that simulations are about.
func describeModel(c *model.Cluster) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Gangs)) {
		g := c.Gangs[name]
		fmt.Fprintln(&b, name, g.MinMember, g.MinTaskMember, g.MinResources, g.TaskRequests, g.Priority, g.Estimate, g.Status.Phase, g.Queue == nil || c.Queues[g.Queue.Name] == g.Queue)
		if g.Queue != nil {
			fmt.Fprintln(&b, " in", g.Queue.Name)
		}
		for _, t := range g.Tasks {
			fmt.Fprintln(&b, " ", t.Name, t.Status, t.Node, t.Priority, t.Expected, t.Shape.Key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Queues)) {
		q := c.Queues[name]
		fmt.Fprintln(&b, name, q.Known, q.Open, q.Fifo, q.Gangs, q.Parent, q.Capability, q.Guarantee, q.Deserved, q.Sums)
	}
	for _, s := range c.Shapes {
		if s != nil {
			fmt.Fprintln(&b, s.ID, s.Request, s.NodeSelector, s.Tolerations)
		}
	}
	fmt.Fprintln(&b, c.Nodes.Alloc, c.Nodes.Used, c.Nodes.Releasing, c.Nodes.Pipelined)
	return b.String()
}

// A simulation changes copies in the session: if it wrote the model, a path that does not restore a value would corrupt
// later cycles.
func TestSimulationsDoNotWriteTheModel(t *testing.T) {
	simulated := 0
	propertytest.Check(t, 1000, func(t *rapid.T) {
		r := newRandom(t)
		r.Enrich()
		for range rapid.IntRange(2, 12).Draw(t, "steps") {
			r.Change()
		}
		e, m := r.Rebuild()
		watch := &modelWatch{t: t}
		e.AppendPolicy(watch)
		d := e.Cycle(r.Now, m)
		for i := range d.Gangs {
			if told := d.Gangs[i].Status.Explanation; told != nil && told.Hint != "" {
				simulated += watch.calls
			}
		}
	})
	if !t.Failed() && simulated == 0 {
		t.Error("no gang got a hint")
	}
}
