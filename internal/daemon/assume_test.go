package daemon

import (
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/daemon/cycleloop"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// witness is an engine that binds a pod in its first cycle and checks in the next one where the model places the pod.
type witness struct{ seen []bool }

func (w *witness) Cycle(_ time.Time, c *model.Cluster) decision.Decisions {
	w.seen = append(w.seen, c.Task("p").Node != model.NoNode)
	return decision.Decisions{Binds: []decision.Bind{{Pod: decision.Object{UID: "p", Namespace: "n", Name: "p"}, Node: "a"}}}
}

// TestTheLoopKnowsWhatItHasDecided verifies that a bind counts in the next cycle, before the watch confirms it.
func TestTheLoopKnowsWhatItHasDecided(t *testing.T) {
	t.Parallel()
	h, engine := newHand(), &witness{}
	h.put(model.NodeSet{Name: "a"})
	h.put(model.TaskSet{UID: "p", Namespace: "n", Name: "p", Ours: true})
	l := &cycleloop.Loop{Source: h, Effects: nowhere{}, Engine: engine, Cluster: model.New(), Period: time.Second}
	for range 2 {
		l.RunCycle(time.Now())
	}
	if len(engine.seen) != 2 || engine.seen[0] || !engine.seen[1] {
		t.Errorf("whether the cycles saw the pod on a node: %v, want no and then yes", engine.seen)
	}
}
