// Package enqueue admits gangs to their queues. Only then are their pods created and tried. A gang waits if its
// queue has no room for it or if no node is large enough. In a strict queue no gang passes the first one, unless
// the first one could not start even on an empty cluster.
package enqueue

import (
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action enqueue.
type Action struct{}

// Name returns enqueue.
func (Action) Name() string { return "enqueue" }

// Run checks the pending gangs in the order of queues and gangs.
func (Action) Run(s *session.Session) {
	s.AtGate()
	var pending []*session.Job
	for _, j := range append(s.Strict(false), s.Ready...) {
		if !j.LetIn() && (j.Parked || s.Gate(j)) {
			pending = append(pending, j)
		}
	}
	s.SortGangs(pending)
	first := map[*queue.Queue]*session.Job{} // by strict queue: the first gang that cannot be admitted
	for _, j := range pending {
		if head := first[j.In]; head != nil {
			s.Behind([]*session.Job{j}, head)
			continue
		}
		if j.Parked && !s.Resume(j) || !admit(s, j) {
			if s.Blocks(j) {
				first[j.In] = j
			}
		}
	}
}

// admit admits a gang or records why it cannot.
func admit(s *session.Session, j *session.Job) bool {
	if !s.Gate(j) {
		return false
	}
	if v, never := s.Never(j); never && !j.In.Grows() { // once admitted, it would only use up the room of others
		s.Verdict(j, v)
		return false
	}
	if j.HasMinResources {
		if v := s.MayEnqueue(j); v.Code != "" && !s.LetInAhead(j, v.Code) {
			s.NamePromisees(&v)
			v.Members = s.Members(j, 0)
			s.Verdict(j, v)
			return false
		}
		for _, enqueued := range s.Rules.Enqueued {
			enqueued(j)
		}
		s.Rules.Admit(j)
	}
	j.Phase = schedulingv1beta1.PodGroupInqueue
	s.ForgetPromisees()
	s.Touch(j)
	return true
}
