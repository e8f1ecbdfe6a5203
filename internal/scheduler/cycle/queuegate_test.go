package cycle

import (
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// TestAGangIsJudgedAgainAfterItHasPassedTheGate opens the gate of a gang that counted as able to start, because the gate
// does not consider nodes.
func TestAGangIsJudgedAgainAfterItHasPassedTheGate(t *testing.T) {
	t.Parallel()
	j := &framework.Job{
		Gang: &model.Gang{Namespace: "default", Name: "g"}, MinMember: 1, In: &queue.Queue{},
		AtGate: []*model.Task{{Name: "g-0", Shape: &model.Shape{}}},
	}
	s := New(&session.Session{Cluster: model.New()})
	s.cacheCouldStart(j, true)
	if v := s.PassQueueGate(j); v.Code != "" || len(j.AtGate) > 0 {
		t.Fatalf("the gate stays closed: %s", v.Code)
	}
	if _, isKnown := s.could[j]; isKnown {
		t.Error("the result from before the gate opened is kept")
	}
}
