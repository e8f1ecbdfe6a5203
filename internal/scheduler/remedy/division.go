package remedy

import (
	"slices"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// countOwnRequest counts all waiting pods of the gang in the requests of its queue, until undo is called, or its
// declared minimum if no pods exist. The model counts neither pods that cannot run anywhere as they are nor pods with
// scheduling gates.
func (f *finder) countOwnRequest() (undo func()) {
	f.request = framework.SumRequests(slices.Concat(f.j.Pending, f.j.AtGate))
	if len(f.j.Tasks) == 0 {
		f.request = f.j.MinResources
	}
	uncounted := slices.Clone(f.request)
	for i := range uncounted {
		uncounted[i].Value -= f.j.Sums.Pending.Get(int(uncounted[i].Index))
	}
	if !slices.ContainsFunc(uncounted, func(t resource.Term) bool { return t.Value != 0 }) {
		return func() {}
	}
	q := f.j.In
	q.AddRequest(uncounted, 1)
	restore := f.s.DivideAgain(nil)
	return func() {
		restore()
		q.AddRequest(uncounted, -1)
	}
}

// moveToQueue moves the gang to another queue and divides the cluster again, until undo is called.
func (f *finder) moveToQueue(to *queue.Queue) (undo func()) {
	j, from, phase := f.j, f.j.In, f.j.Phase
	place := func(q *queue.Queue) {
		j.In.AddRequest(f.request, -1)
		j.In.Gangs--
		j.In = q
		q.AddRequest(f.request, 1)
		q.Gangs++
	}
	place(to)
	restore := f.s.DivideAgain(nil)
	return func() {
		restore()
		place(from)
		j.Phase = phase
	}
}
