package cycle

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// CheckQueueOpen reports whether the job's queue exists and is open. If not, it sets the job's verdict. A closed queue
// admits no gangs, and admitted gangs get no more nodes.
func (s *Cycle) CheckQueueOpen(j *framework.Job) bool {
	switch {
	case !j.In.Known:
		s.SetVerdict(j, explain.Verdict{Code: reason.QueueMissing, Limit: &explain.Limit{Queue: j.In.Name}, Members: s.Members(j, 0)})
	case !j.In.Open:
		s.SetVerdict(j, explain.Verdict{Code: reason.QueueClosed, Limit: &explain.Limit{Queue: j.In.Name}, Members: s.Members(j, 0)})
	default:
		return true
	}
	s.CancelPromises(j)
	return false
}

// AdmitAtOnce admits a gang to its queue if no action enqueue is configured. If the limits of the gang's account do not
// permit it, or the gang's pods could not be created, it gives the gang a verdict instead.
func (s *Cycle) AdmitAtOnce(j *framework.Job) {
	if j.IsAccountBound() && !s.CheckQueueOpen(j) { // the limits are checked again when the queue is open
		return
	}
	if j.IsAdmitted() || !j.In.AcceptsGangs() {
		return
	}
	v := s.Rules.CheckAdmissible(j)
	if v.Code == "" && j.HasMinResources {
		v = s.Rules.MayCreate(j)
	}
	if v.Code != "" {
		v.Members = s.Members(j, 0)
		s.SetVerdict(j, v)
		return
	}
	s.Rules.NotifyAdmitted(j)
	j.Phase = schedulingv1beta1.PodGroupInqueue
	s.Touch(j)
}

// RecordBlocked records a verdict about the queue for a gang that could start if the queue gave it a turn.
func (s *Cycle) RecordBlocked(j *framework.Job, v explain.Verdict) {
	if never, ok := s.NeverStarts(j); ok { // a turn would not start it
		s.SetVerdict(j, never)
		return
	}
	if own := s.Rules.CheckValid(j); own.Code == reason.NotEnoughPods { // a turn would not help; the time without pods still counts
		s.SetVerdict(j, own)
		return
	}
	if v.Limit != nil { // the same limit with this gang's amount
		limit := *v.Limit
		if index, ok := s.Cluster.Resources.Find(limit.Resource); ok {
			limit.Asked = float64(s.RequestedTogether(j).Get(index))
			if limit.Asked > limit.Limit { // it can never fit, unless its smaller pods do
				limit.Least = session.LeastRequest(slices.Concat(j.Pending, j.AtGate), nil, j.Need(), index)
			}
		}
		v.Limit = &limit
	}
	if !j.IsSatisfied() {
		s.ExplainExceeded(j, &v)
	}
	v.Members = s.Members(j, 0)
	s.SetVerdict(j, v)
}

// RecordBehind records that the other gangs of a strict queue are waiting for its head. A gang whose pods are overdue
// gets that verdict instead, because a turn would not start it, and it must not block others when its turn comes.
func (s *Cycle) RecordBehind(rest []*framework.Job, head *framework.Job) {
	for _, j := range rest {
		if s.podsAreOverdue(j) {
			s.SetVerdict(j, s.Rules.CheckValid(j))
			continue
		}
		if isKnownBehind(j, head) {
			continue
		}
		s.SetVerdict(j, explain.Verdict{Code: reason.BehindOthers, Members: s.Members(j, 0), Blocker: []string{headName(j, head)}, Queue: head.In.Name})
	}
}

// headName returns the name by which users of one gang know the gang at the head of its queue. The name includes the
// namespace if the two gangs are in different namespaces.
func headName(j, head *framework.Job) string {
	kind, name := "PodGroup ", head.Name
	if head.Job != "" {
		kind, name = "job ", head.Job
	}
	if head.Namespace != j.Namespace {
		name = head.Namespace + "/" + name
	}
	return kind + name
}

// isKnownBehind reports whether a parked gang already has the verdict that it is waiting for this head.
func isKnownBehind(j, head *framework.Job) bool {
	return j.Parked && j.IsBehindOthers() && slices.Equal(j.Verdict.Blocker, []string{headName(j, head)})
}

// podsAreOverdue reports whether an admitted gang still lacks pods although more time has passed than the creation of
// pods may take.
func (s *Cycle) podsAreOverdue(j *framework.Job) bool {
	if !j.IsAdmitted() || s.Rules.CheckValid(j).Code != reason.NotEnoughPods {
		return false
	}
	explained := j.Status.Explanation
	if explained == nil || explained.Since == nil {
		return false
	}
	if explained.Reason == string(reason.NotEnoughPods) {
		return true
	}
	overdue := explained.Since.Add(arrival)
	if s.Now.Before(overdue) {
		s.WakeAt(overdue)
		return false
	}
	return true
}
