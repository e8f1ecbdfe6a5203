package remedy

import (
	"slices"

	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// countOwnRequest counts all waiting pods of the gang in the requests of its queue until undo is called. If no pods
// exist, it counts the gang's declared minimum. This is necessary because the model counts neither pods with
// scheduling gates nor pods that cannot run on any node in their current form.
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

// moveToQueue moves the gang to another queue and divides the cluster again. undo reverses this.
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
