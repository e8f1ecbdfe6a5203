package session

import (
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
)

// Wants reports whether the gang needs anything: it is not admitted, has tasks without a node, or has less than its
// minimum.
func (j *Job) Wants() bool {
	return j.Phase == schedulingv1beta1.PodGroupPending || len(j.Pending)+len(j.AtGate) > 0 || j.Opening() || !j.Satisfied() && j.Phase != schedulingv1beta1.PodGroupCompleted
}

// NothingWanted clears the reason to wait.
func (j *Job) NothingWanted() { j.Verdict = explain.Verdict{} }

// Loaded reports whether the job is up to date with its gang.
func (j *Job) Loaded() bool { return j.seen == j.Gen }

// Unload makes the next Load read everything again.
func (j *Job) Unload() { j.seen = 0 }

// Changed reports whether the cycle changed the job, so that it differs from its gang.
func (j *Job) Changed() bool {
	return len(j.Placed)+len(j.Promised)+len(j.Released)+j.Evicted > 0 || j.Phase != j.Status.Phase
}

// Refresh updates the job's queue, which can change independently of the gang.
func (j *Job) Refresh(s *Session) { j.In = s.Ledger.Of(j.Gang.Queue) }

// Park sets the job aside until a change that could help.
func (j *Job) Park(queueVersion uint64) {
	j.Parked = j.Verdict.Code != reason.Reserved || j.Verdict.Full // a reservation may end without a visible change
	j.QueueStamp = queueVersion
	j.ParkedShapes = nil
	if j.LetIn() && j.QueueBound() {
		j.ParkedShapes = j.Shapes()
	}
}

// Possible reports whether every task of the job could run somewhere if the nodes were empty.
func (s *Session) Possible(j *Job) bool {
	for _, shape := range j.Shapes() {
		if !s.Judge.Possible(shape) {
			return false
		}
	}
	return true
}

// QueueBound reports whether a change of its queue could help the job. A job that waits for its own pods is helped
// only by these, except for pods at its queue's gate. A gang of several shapes can be blocked by nodes and by its
// queue at the same time, so changes of either wake it.
func (j *Job) QueueBound() bool {
	return len(j.AtGate) > 0 || j.Verdict.Code != reason.NotEnoughPods && j.Verdict.Code != reason.SchedulingGated
}

// SizeBound reports whether the nodes' sizes could be the reason that the job, or another job before it, waits.
func (j *Job) SizeBound() bool { return !j.LetIn() || j.Verdict.Never() }

// Keeps reports whether the tasks still have the resources promised to them, as a promise or as a placement.
func (j *Job) Keeps(tasks []*model.Task) bool {
	kept := 0
	for _, list := range [][]Placed{j.Placed, j.Promised} {
		for _, p := range list {
			if p.Task.Status == model.Pipelined && p.Task.Node == p.Node {
				kept++
			}
		}
	}
	return kept == len(tasks)
}

// WakeForNodes makes parked gangs that wait for nodes ready, because promised resources became free.
func (s *Session) WakeForNodes() {
	for _, j := range s.AllWaiting {
		if j.Parked && len(j.ParkedShapes) > 0 {
			j.Parked = false
			j.Refresh(s)
			s.Ready = append(s.Ready, j)
		}
	}
}

// NodesHelp reports whether one of the nodes that grew could take a task of a shape.
func (s *Session) NodesHelp(shape *model.Shape) bool {
	if s.Neighbours.Relieved || shape.Slow || shape.Attached != nil || len(shape.Ports) > 0 || s.Cluster.Shapes[shape.ID] != shape {
		return true
	}
	for _, id := range s.View.Grown {
		if s.View.WillFit(id, shape.Request) && s.Judge.Allowed(shape, id) {
			return true
		}
	}
	return false
}

// Outlived reports whether a gang that had a reservation when j was parked no longer exists or no longer waits.
func (s *Session) Outlived(j *Job) bool {
	if j.Verdict.Code != reason.Reserved {
		return false
	}
	for _, g := range j.Verdict.Ahead {
		exists := g.Known && s.Cluster.Gangs[g.Key()] == g
		if !exists || s.Job(g) == nil || !s.Job(g).Lacks() {
			return true
		}
	}
	return false
}
