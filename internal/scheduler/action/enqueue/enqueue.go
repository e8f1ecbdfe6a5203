// Package enqueue admits gangs to their queues. The pods of a gang are created and scheduled only after the gang is
// admitted. A gang is not admitted if its queue does not have enough free capacity or if no node is large enough. In a
// strict queue, a gang never overtakes the first waiting gang, unless that gang could not start even on an empty
// cluster.
package enqueue

import (
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Action implements the enqueue action.
type Action struct{}

// Name returns "enqueue".
func (Action) Name() string { return "enqueue" }

// Run tries to admit the pending gangs, in the order of queues and gangs.
func (Action) Run(s *cycle.Cycle) {
	s.WakeAdmissionHeads()
	var pending []*framework.Job
	for _, j := range append(s.StrictGangs(false), s.Ready...) {
		if !j.IsAdmitted() && (j.Parked || s.CheckQueueOpen(j)) {
			pending = append(pending, j)
		}
	}
	s.SortGangs(pending)
	first := map[*queue.Queue]*framework.Job{} // for each strict queue, the first gang that cannot be admitted
	for _, j := range pending {
		if head := first[j.In]; head != nil {
			s.RecordBehind([]*framework.Job{j}, head)
			continue
		}
		if (j.Parked && !s.ResumeGang(j)) || !admitGang(s, j) {
			if s.BlocksOthers(j) {
				first[j.In] = j
			}
		}
	}
}

// admitGang admits a gang, or records why the gang cannot be admitted. It reports whether it admitted the gang.
func admitGang(s *cycle.Cycle, j *framework.Job) bool {
	if !s.CheckQueueOpen(j) {
		return false
	}
	if v := s.Rules.CheckAdmissible(j); v.Code != "" {
		v.Members = s.Members(j, 0)
		s.SetVerdict(j, v)
		return false
	}
	if v, never := s.NeverStarts(j); never && !j.In.Grows() { // it would only take capacity from other gangs
		s.SetVerdict(j, v)
		return false
	}
	if j.HasMinResources {
		if v := s.MayEnqueue(j); v.Code != "" && !s.MayAdmitAhead(j, v.Code) {
			s.NamePromisees(&v)
			v.Members = s.Members(j, 0)
			s.SetVerdict(j, v)
			return false
		}
		for _, enqueued := range s.Rules.Enqueued {
			enqueued(j)
		}
	}
	s.Rules.NotifyAdmitted(j)
	j.Phase = schedulingv1beta1.PodGroupInqueue
	s.RecordAdmitted(j)
	s.ForgetPromisees()
	s.Touch(j)
	return true
}
