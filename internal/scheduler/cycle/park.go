package cycle

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// RefreshQueue updates the job's queue, which can change without a change to the gang.
func (s *Cycle) RefreshQueue(j *framework.Job) { j.In = s.Ledger.Of(j.Gang.Queue) }

// FitsEmptyNodes reports whether every task of the job could run somewhere if the nodes were empty.
func (s *Cycle) FitsEmptyNodes(j *framework.Job) bool {
	for _, shape := range j.PendingShapes() {
		if !s.Judge.FitsEmptyNode(shape) {
			return false
		}
	}
	return true
}

// WakeForNodes makes parked gangs that are waiting for nodes ready again, because promised resources have become
// free.
func (s *Cycle) WakeForNodes() {
	for _, j := range s.AllWaiting {
		if j.Parked && len(j.ParkedShapes) > 0 {
			j.Parked = false
			s.RefreshQueue(j)
			s.Ready = append(s.Ready, j)
		}
	}
}

// needsMoreThanRequest reports whether a node can lack something other than free resources for a task of a shape: a
// host port, a volume, a device, or the pods that the affinity or spread rules of the shape require.
func needsMoreThanRequest(shape *model.Shape) bool {
	return shape.Slow || shape.Attached != nil || len(shape.Ports) > 0
}

// GrownNodesHelp reports whether one of the nodes that have gained free resources could take a task of a shape.
func (s *Cycle) GrownNodesHelp(shape *model.Shape) bool {
	if s.PodCounts.Relieved || needsMoreThanRequest(shape) {
		return true
	}
	isKnown := s.Cluster.Shapes[shape.ID] == shape
	if !isKnown {
		return true
	}
	for _, id := range s.View.Grown {
		if s.View.FitsLater(id, shape.Request) && s.Judge.IsAllowed(shape, id) {
			return true
		}
	}
	return false
}

// OutlivedReservation reports whether a gang that had a reservation when j was parked no longer exists or is no
// longer waiting.
func (s *Cycle) OutlivedReservation(j *framework.Job) bool {
	if j.Verdict.Code != reason.Reserved {
		return false
	}
	for _, g := range j.Verdict.Ahead {
		exists := g.Known && s.Cluster.Gangs[g.Key()] == g
		if !exists || s.Job(g) == nil || !s.Job(g).WaitsToStart() {
			return true
		}
	}
	return false
}
