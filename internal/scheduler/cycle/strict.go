package cycle

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// StrictGangs returns the parked gangs of strict queues that must take their turn with the gangs that are tried. If
// inside is true, these are admitted gangs; otherwise, gangs that are waiting for admission.
func (s *Cycle) StrictGangs(inside bool) []*framework.Job {
	heads := s.firstParked(inside)
	moved := map[*queue.Queue]bool{}
	for _, j := range s.Ready {
		if j.In.Fifo && s.takesPartInTurn(j, inside) {
			moved[j.In] = true
		}
	}
	var out []*framework.Job
	for _, j := range s.AllWaiting {
		head := heads[j.In]
		switch {
		case !j.In.Fifo || !j.Parked:
		case j.HasTurn(inside):
			if moved[j.In] || head.IsBehindOthers() || !s.BlocksOthers(head) {
				out = append(out, j)
			}
		case inside && j.WantsBeyondMinimum() && j.IsBehindOthers():
			if moved[j.In] || !s.isBlockedBy(head, j) {
				out = append(out, j)
			}
		}
	}
	return out
}

// firstParked returns the first parked gang of each strict queue among those that inside selects.
func (s *Cycle) firstParked(inside bool) map[*queue.Queue]*framework.Job {
	heads := map[*queue.Queue]*framework.Job{}
	for _, j := range s.AllWaiting {
		if !j.In.Fifo || !j.Parked || !j.HasTurn(inside) {
			continue
		}
		if head := heads[j.In]; head == nil || s.Rules.CompareJobs(j, head) < 0 {
			heads[j.In] = j
		}
	}
	return heads
}

// takesPartInTurn reports whether a ready gang of a strict queue takes its turn with the gangs that inside selects.
// Gangs that want more than their minimum wait for their turn, too.
func (s *Cycle) takesPartInTurn(j *framework.Job, inside bool) bool {
	if j.HasTurn(inside) {
		return true
	}
	mayBePlaced := j.IsAdmitted() || !s.Enqueues
	return inside && mayBePlaced && j.WantsMore()
}

// isBlockedBy reports whether a gang that wants more than its minimum is waiting for the first parked gang of its
// strict queue, if there is one. A gang that has its minimum is not itself that first gang, and the order may have
// changed.
func (s *Cycle) isBlockedBy(head, j *framework.Job) bool {
	return head != nil && s.BlocksOthers(head) && s.Rules.CompareJobs(head, j) <= 0
}

// ResumeGang makes a gang ready again if it was not tried because others came before it. It reports whether it did
// so.
func (s *Cycle) ResumeGang(j *framework.Job) bool {
	if !j.Parked || !j.IsBehindOthers() {
		return false
	}
	j.Parked = false
	s.RefreshQueue(j)
	s.Ready = append(s.Ready, j)
	return true
}

// BlocksOthers reports whether the other gangs of a strict queue must wait for a gang that has not started. It is false
// if the gang could not start even on an empty cluster, or if a limit of its account holds it back.
func (s *Cycle) BlocksOthers(j *framework.Job) bool {
	if !j.In.Fifo {
		return false
	}
	hasStarted := j.IsAdmitted() && j.IsSatisfied()
	if hasStarted || j.Verdict.IsNeverPossible() || j.IsAccountBound() {
		return false
	}
	asked := j.MinResources
	if j.IsAdmitted() {
		asked = j.MinimumRequest()
	}
	return !exceedsCapability(asked, j.In) && s.CouldStart(j)
}

// exceedsCapability reports whether a request is more than a queue or one of its ancestors can ever hold.
func exceedsCapability(asked resource.Request, q *queue.Queue) bool {
	for ; q != nil; q = q.Parent {
		for _, t := range asked {
			if float64(t.Value) > q.Capability[t.Index]+queue.Epsilon {
				return true
			}
		}
	}
	return false
}

// BlocksUntilCreated reports whether the other gangs of a strict queue must wait for a gang whose pods may still be
// created.
func (s *Cycle) BlocksUntilCreated(j *framework.Job) bool {
	if !j.In.Fifo || !j.IsAdmitted() {
		return false
	}
	lacksPods := j.Verdict.Code == reason.NotEnoughPods
	return lacksPods && s.mayStillArrive(j) && s.templatesFit(j)
}
