package session

import (
	"slices"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// starts says whether the gang would be let in, or would start when it is.
func (h *helper) starts() bool {
	s, j := h.s, h.j
	if !j.In.Known || !j.In.Open || s.Rules.IsOverused(j.In).Code != "" {
		return false
	}
	if !j.LetIn() {
		if j.HasMinResources && s.MayEnqueue(j).Code != "" {
			return false
		}
		if len(j.Pending) == 0 {
			return j.HasMinResources
		}
	}
	return len(j.Pending) > 0 && j.Need() > 0 && s.Rules.Valid(j).Code == "" && h.fits()
}

// first says whether the gang is the first of those that want more in a queue, or
// nobody waits there. What a limit of the queue lets through goes to the first.
func (h *helper) first(q *queue.Queue) bool {
	for _, o := range h.s.AllWaiting {
		if o == nil || o == h.j || !o.In.Within(q) || !o.Lacks() && len(o.Pending) == 0 {
			continue
		}
		if q != h.j.In && o.Lacks() || h.s.Rules.CompareJobs(o, h.j) < 0 {
			return false
		}
	}
	return true
}

// raiseCapability tries the limit that would just do.
func (h *helper) raiseCapability() {
	l := h.v.Limit
	if h.v.Code != reason.OverCapability || l == nil || l.Cluster || l.Node || !h.j.In.Leaf() {
		return
	}
	s, j := h.s, h.j
	index, ok := s.Cluster.Resources.Find(l.Resource)
	at := slices.IndexFunc(j.In.Path(), func(q *queue.Queue) bool { return q.Name == l.Queue })
	if !ok || at < 0 {
		return
	}
	q := j.In.Path()[at]
	if !h.first(q) {
		return
	}
	held := q.Allocated[index] + q.Inqueue[index] - q.Elastic[index]
	enough := []float64{float64(j.MinResources.Get(index))}
	if j.LetIn() { // its smallest pods may do
		held, enough = q.Allocated[index], []float64{least(j.Pending, nil, j.Need(), index), float64(Sum(j.Minimum()).Get(index))}
	}
	from := q.Capability[index]
	for _, asked := range slices.Compact(enough) {
		to := held + asked
		if to <= from {
			continue
		}
		undo := s.lift(q, index, to)
		ok = h.starts()
		undo()
		if ok {
			h.addGate(schedulingv1beta1.HelpRaiseCapability, q.Name,
				l.Resource+"="+explain.Amount(l.Resource, int64(from)), l.Resource+"="+explain.Amount(l.Resource, int64(to)))
			return
		}
	}
}

// lift raises what a queue may hold of a resource, and its share where the
// capability is what bounds it and nobody else would have to give.
func (s *Session) lift(q *queue.Queue, index int, to float64) (undo func()) {
	capability, realCapability, ceiling, deserved := q.Capability[index], q.RealCapability[index], q.Ceiling[index], q.Deserved[index]
	free, most := s.Ledger.Total[index], s.Ledger.Total[index]
	for _, o := range s.Ledger.Queues {
		if o.Leaf() {
			free -= o.Deserved[index]
		}
		if !o.Within(q) && !q.Within(o) { // what is guaranteed to others is not to be had
			most -= float64(o.Guarantee.Get(index))
		}
	}
	q.Capability[index], q.RealCapability[index], q.Ceiling[index] = to, max(realCapability, min(to, most)), max(ceiling, to)
	if more := to - deserved; deserved >= realCapability-queue.Epsilon && more > 0 && more <= free+queue.Epsilon {
		q.Deserved[index] = to
	}
	return func() {
		q.Capability[index], q.RealCapability[index], q.Ceiling[index], q.Deserved[index] = capability, realCapability, ceiling, deserved
	}
}

// otherQueue looks for a queue in which the gang would start. One that has pods
// running would take along what they hold.
func (h *helper) otherQueue() {
	if h.j.AllocatedTasks() > 0 {
		return
	}
	switch h.v.Code {
	case reason.GangDoesNotFit, reason.TooLarge, reason.Reserved, reason.NotReclaimable:
		return
	}
	if l := h.v.Limit; l != nil && (l.Cluster && h.v.Code != reason.NotEnqueued || l.Node) {
		return
	}
	s, j := h.s, h.j
	own, tried := j.In, 0
	for _, q := range s.Ledger.Queues {
		if q == own || !q.Known || !q.Open || !q.Leaf() || q.Fault != "" || q.Name == keys.RootQueue || !h.first(q) {
			continue
		}
		if tried++; tried > maxOtherQueues {
			return
		}
		deserved := q.Deserved
		q.Deserved = entitled(q)
		model, phase := j.Gang.Queue, j.Phase
		j.In, j.Gang.Queue = q, q.Queue
		ok := h.starts()
		j.In, j.Gang.Queue, j.Phase = own, model, phase
		q.Deserved = deserved
		if ok {
			h.addGate(schedulingv1beta1.HelpOtherQueue, "", own.Name, q.Name)
			return
		}
	}
}

// entitled is what a queue would deserve that asks for as much.
func entitled(q *queue.Queue) []float64 {
	deserved := slices.Clone(q.Deserved)
	for i := range min(len(deserved), len(q.Entitled)) {
		deserved[i] = max(deserved[i], q.Entitled[i])
	}
	return deserved
}
