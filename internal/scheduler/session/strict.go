package session

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Strict are the gangs of strict queues that are not looked at in this cycle and
// have their turn among those that are. inside says whether it is about those
// that are let in, or about those that are not.
func (s *Session) Strict(inside bool) []*Job {
	heads := map[*queue.Queue]*Job{} // the first that is parked
	for _, j := range s.AllWaiting {
		if j.In.Fifo && j.Parked && j.hasTurn(inside) && (heads[j.In] == nil || s.Rules.CompareJobs(j, heads[j.In]) < 0) {
			heads[j.In] = j
		}
	}
	moved := map[*queue.Queue]bool{}
	for _, j := range s.Ready {
		if j.In.Fifo && (j.hasTurn(inside) || inside && (j.LetIn() || !s.Enqueues) && j.wantsMore()) { // more than a minimum waits, too
			moved[j.In] = true
		}
	}
	var out []*Job
	for _, j := range s.AllWaiting {
		head := heads[j.In]
		switch {
		case !j.In.Fifo || !j.Parked:
		case j.hasTurn(inside):
			if moved[j.In] || head.behind() || !s.Blocks(head) {
				out = append(out, j)
			}
		case inside && j.wantsBeyond() && j.behind():
			// The order may have moved, too: as far as it has its minimum it is nobody's head.
			if head == nil || moved[j.In] || !s.Blocks(head) || s.Rules.CompareJobs(head, j) > 0 {
				out = append(out, j)
			}
		}
	}
	return out
}

// hasTurn says whether the gang takes turns with those inside its queue, or with
// those at its gate.
func (j *Job) hasTurn(inside bool) bool {
	if !inside {
		return !j.LetIn()
	}
	return j.LetIn() && !j.Satisfied() && len(j.Reserved)+len(j.Promised) == 0
}

// wantsBeyond says whether the gang has its minimum and waits for more.
func (j *Job) wantsBeyond() bool {
	return j.LetIn() && j.Satisfied() && j.wantsMore() && len(j.Reserved)+len(j.Promised) == 0
}

// wantsMore reports whether pods of the gang wait for nodes or at their queue's gate.
func (j *Job) wantsMore() bool { return len(j.Pending)+len(j.AtGate) > 0 }

// behind says whether the gang was not tried as others were before it.
func (j *Job) behind() bool { return j.Verdict.Code == reason.BehindOthers }

// Resume makes a gang ready that was not tried because others were before it. It
// returns whether it did.
func (s *Session) Resume(j *Job) bool {
	if !j.Parked || !j.behind() {
		return false
	}
	j.Parked = false
	j.Refresh(s)
	s.Ready = append(s.Ready, j)
	return true
}

// Blocks says whether the others of a strict queue have to wait for a gang that
// has not started: not when it could not start whatever ended.
func (s *Session) Blocks(j *Job) bool {
	if !j.In.Fifo || j.LetIn() && j.Satisfied() || j.Verdict.Never() {
		return false
	}
	asked := j.MinResources
	if j.LetIn() {
		asked = j.MinimumRequest()
	}
	return !exceeds(asked, j.In) && s.CouldStart(j)
}

// exceeds says whether something is more than a queue or one of its ancestors may
// ever hold.
func exceeds(asked model.Request, q *queue.Queue) bool {
	for ; q != nil; q = q.Parent {
		for _, t := range asked {
			if float64(t.Value) > q.Capability[t.Index]+queue.Epsilon {
				return true
			}
		}
	}
	return false
}

// Arriving says whether the others of a strict queue wait for a gang because its pods
// may still be on their way.
func (s *Session) Arriving(j *Job) bool {
	return j.In.Fifo && j.LetIn() && j.Verdict.Code == reason.NotEnoughPods && s.arriving(j) && s.templatesFit(j)
}
