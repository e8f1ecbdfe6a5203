package remedy

import (
	"slices"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// wouldStart reports whether the gang would start. If its pods do not exist yet, it reports whether the gang would be
// admitted.
func (f *finder) wouldStart() bool {
	s, j := f.s, f.j
	if !j.In.AcceptsGangs() {
		return false
	}
	if !j.IsAdmitted() {
		if j.HasMinResources && s.MayEnqueue(j).Code != "" {
			return false
		}
		if len(j.Pending) == 0 {
			_, never := s.NeverStarts(j)
			return j.HasMinResources && !never && s.Rules.CheckOverused(j.In).Code == ""
		}
	}
	if len(j.Pending) == 0 || j.Need() <= 0 {
		return false
	}
	return s.Rules.CheckValid(j).Code == "" && f.wouldGetPods()
}

// isFirstToUse reports whether no other gang would use a raised limit of a queue before this gang.
func (f *finder) isFirstToUse(q *queue.Queue) bool {
	return !slices.ContainsFunc(f.s.AllWaiting, func(o *framework.Job) bool {
		if o == nil || o == f.j || !o.In.IsWithin(q) {
			return false
		}
		wantsMore := o.WaitsToStart() || len(o.Pending)+len(o.AtGate) > 0
		return wantsMore && f.goesAhead(o, q)
	})
}

// goesAhead reports whether another gang would use a raised limit of a queue before this gang.
func (f *finder) goesAhead(o *framework.Job, q *queue.Queue) bool {
	switch {
	case q != f.j.In && o.WaitsToStart():
		return true
	case o.IsAdmitted() && !f.j.IsAdmitted(): // its pods exist; this gang's are created only after its admission
		return true
	}
	return f.s.Rules.CompareJobs(o, f.j) < 0
}

// tryRaisedCapability tries to raise a capability of the queue, or of one of its parents, to the smallest sufficient
// value.
func (f *finder) tryRaisedCapability() {
	if !f.j.In.IsLeaf() {
		return
	}
	if l := f.v.Limit; f.v.Code == reason.OverCapability && l != nil {
		index, ok := f.s.Cluster.Resources.Find(l.Resource)
		at := slices.IndexFunc(f.j.In.Path(), func(q *queue.Queue) bool { return q.Name == l.Queue })
		isQueueLimit := !l.Cluster && !l.Node
		if isQueueLimit && ok && at >= 0 {
			f.tryCapability(f.j.In.Path()[at], index)
		}
		return
	}
	if !f.hasPodsToTry() || (f.v.Code != reason.GangDoesNotFit && f.v.Code != reason.TooLarge) {
		return
	}
	for _, q := range f.j.In.Path() { // with a higher limit, other pods of the gang may be allowed that fit on nodes
		for i, capability := range q.Capability {
			if i == resource.Pods || q.Allocated[i]+greatestSum(f.j.Pending, f.j.Need(), i) <= capability {
				continue
			}
			if f.tryCapability(q, i) {
				return
			}
		}
	}
}

// tryCapability tries a greater capability for one resource of a queue. It adds a hint and returns true if that helps.
func (f *finder) tryCapability(q *queue.Queue, index int) bool {
	s, j := f.s, f.j
	if !f.isFirstToUse(q) {
		return false
	}
	held := q.Allocated[index] + q.Inqueue[index] - q.Elastic[index]
	enough := []float64{float64(j.MinResources.Get(index))}
	if j.IsAdmitted() { // its smallest pods may suffice, or only its largest may fit on the nodes
		held = q.Allocated[index]
		enough = []float64{session.LeastRequest(j.Pending, nil, j.Need(), index), float64(framework.SumRequests(j.MinimumTasks()).Get(index)), greatestSum(j.Pending, j.Need(), index)}
	}
	name, from := s.Cluster.Resources.Name(index), q.Capability[index]
	for _, asked := range slices.Compact(enough) {
		to := held + asked
		if to <= from {
			continue
		}
		undo := liftCapability(s, q, index, to)
		ok := f.wouldStart()
		undo()
		if ok {
			f.addAdmissionHint(schedulingv1beta1.HelpRaiseCapability, q.Name, name+"="+explain.FormatAmount(name, int64(from)), name+"="+explain.FormatAmount(name, int64(to)))
			return true
		}
	}
	return false
}

// greatestSum returns the total request for a resource by the need tasks that request most of it.
func greatestSum(tasks []*model.Task, need, index int) float64 {
	asked := make([]int64, 0, len(tasks))
	for _, t := range tasks {
		asked = append(asked, -t.Shape.Request.Get(index))
	}
	slices.Sort(asked)
	sum := 0.0
	for _, v := range asked[:min(max(need, 1), len(asked))] {
		sum -= float64(v)
	}
	return sum
}

// liftCapability sets a queue's capability for a resource and divides the cluster again. undo reverses this.
func liftCapability(s *cycle.Cycle, q *queue.Queue, index int, to float64) (undo func()) {
	capability := q.Capability[index]
	q.Capability[index] = to
	restore := s.DivideAgain(nil)
	return func() {
		restore()
		q.Capability[index] = capability
	}
}

// acceptsGangs reports whether a queue is an open leaf without faults.
func acceptsGangs(q *queue.Queue) bool {
	if !q.AcceptsGangs() || !q.IsLeaf() {
		return false
	}
	return q.Fault == "" && q.Name != keys.RootQueue
}

// tryOtherQueues looks for a queue in which the gang would start. It skips a gang with running pods, because its
// resources would move with it.
func (f *finder) tryOtherQueues() {
	if f.j.AllocatedTasks() > 0 || !f.queueMatters() || f.letsOthersStart() {
		return
	}
	s, j := f.s, f.j
	own, tried := j.In, 0
	for _, q := range s.Ledger.Queues {
		if q == own || !acceptsGangs(q) || !f.isFirstToUse(q) {
			continue
		}
		if tried++; tried > maxOtherQueues {
			return
		}
		moveBack := f.moveToQueue(q)
		ok := f.wouldStart()
		moveBack()
		if ok {
			f.addAdmissionHint(schedulingv1beta1.HelpOtherQueue, "", own.Name, q.Name)
			return
		}
	}
}

// letsOthersStart reports whether other gangs in the gang's queue may start, and take the nodes first, as soon as the
// gang moves to another queue. In a strict queue, these are the gangs behind it. If the queue reserves resources for
// the gang's pods, these are all other waiting gangs.
func (f *finder) letsOthersStart() bool {
	j := f.j
	passed := j.HasPassedGate()
	return slices.ContainsFunc(f.s.AllWaiting, func(o *framework.Job) bool {
		if !f.isRival(o) {
			return false
		}
		return passed || (j.In.Fifo && f.s.Rules.CompareJobs(j, o) < 0)
	})
}

// isRival reports whether another gang in the gang's queue is waiting to start. o may be nil.
func (f *finder) isRival(o *framework.Job) bool {
	if o == nil || o == f.j {
		return false
	}
	return o.In == f.j.In && o.WaitsToStart()
}

// queueMatters reports whether moving to another queue could help. It cannot if nodes lack resources, unless part of
// their resources is reserved for the guarantees of other queues.
func (f *finder) queueMatters() bool {
	l := f.v.Limit
	if l != nil && l.Cluster && l.Kept > 0 {
		return true
	}
	switch f.v.Code {
	case reason.GangDoesNotFit:
		return l == nil && f.isQueueBounded()
	case reason.TooLarge, reason.Reserved, reason.NotReclaimable:
		return false
	case reason.NotEnqueued:
		return l == nil || !l.Node
	}
	return l == nil || (!l.Cluster && !l.Node)
}

// isQueueBounded reports whether, for any resource that the gang requests, a limit of the gang's queue is below the
// usable resources of the cluster.
func (f *finder) isQueueBounded() bool {
	q := f.j.In
	for _, term := range framework.SumRequests(f.j.MinimumTasks()) {
		i := int(term.Index)
		if i == resource.Pods {
			continue
		}
		if most := f.s.Ledger.Usable[i] - queue.Epsilon; q.RealCapability[i] < most || (q.Shared && q.Deserved[i] < most) {
			return true
		}
	}
	return false
}
