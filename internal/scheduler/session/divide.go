package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// redivide divides the cluster among queues again, because a simulation changed what queues request or may have. Pods
// of more shapes count as waiting in queues. The caller changes the queues before it calls redivide, and restores
// these changes itself.
func (s *Session) redivide(more []*model.Shape) (undo func()) {
	restore := s.Ledger.SaveShares()
	s.Ledger.ClearShares()
	for _, d := range s.Rules.Divisions {
		d.Divide(more)
	}
	return restore
}

// countRequest counts all waiting pods of the gang in the requests of its queue, until undo is called, or its declared
// minimum if no pods exist. The model counts neither pods that cannot run anywhere as they are nor pods with scheduling
// gates.
func (h *helper) countRequest() (undo func()) {
	h.request = framework.Sum(slices.Concat(h.j.Pending, h.j.AtGate))
	if len(h.j.Tasks) == 0 {
		h.request = h.j.MinResources
	}
	uncounted := slices.Clone(h.request)
	for i := range uncounted {
		uncounted[i].Value -= h.j.Sums.Pending.Get(int(uncounted[i].Index))
	}
	if !slices.ContainsFunc(uncounted, func(t model.Term) bool { return t.Value != 0 }) {
		return func() {}
	}
	q := h.j.In
	q.AddRequest(uncounted, 1)
	restore := h.s.redivide(nil)
	return func() {
		restore()
		q.AddRequest(uncounted, -1)
	}
}

// move moves the gang to another queue and divides the cluster again, until undo is called.
func (h *helper) move(to *queue.Queue) (undo func()) {
	j, from, phase := h.j, h.j.In, h.j.Phase
	place := func(q *queue.Queue) {
		j.In.AddRequest(h.request, -1)
		j.In.Gangs--
		j.In, j.Gang.Queue = q, q.Queue
		q.AddRequest(h.request, 1)
		q.Gangs++
	}
	place(to)
	restore := h.s.redivide(nil)
	return func() {
		restore()
		place(from)
		j.Phase = phase
	}
}
