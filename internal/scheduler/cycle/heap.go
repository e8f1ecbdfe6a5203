package cycle

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// heap is a binary heap. The order of its items may change during the cycle.
type heap[T any] struct {
	items []T
	order func(a, b T) int
}

func (h *heap[T]) push(x T) {
	h.items = append(h.items, x)
	i := len(h.items) - 1
	for i > 0 && h.order(h.items[i], h.items[(i-1)/2]) < 0 {
		h.items[i], h.items[(i-1)/2] = h.items[(i-1)/2], h.items[i]
		i = (i - 1) / 2
	}
}

func (h *heap[T]) pop() (x T, ok bool) {
	if len(h.items) == 0 {
		return x, false
	}
	x = h.items[0]
	last := len(h.items) - 1
	h.items[0] = h.items[last]
	h.items = h.items[:last]
	h.siftDown(0)
	return x, true
}

// restoreHeap restores the heap after items other than the last popped one have changed.
func (h *heap[T]) restoreHeap() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.siftDown(i)
	}
}

// siftDown moves the item at i down to its position.
func (h *heap[T]) siftDown(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h.items) && h.order(h.items[child], h.items[least]) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
}

// Turns determines whose turn it is: first the queue, then the gang in the queue. Queues are compared again at
// every turn, because shares change.
type Turns struct {
	s      *Cycle
	queues heap[*Turn]
}

// Turn is one queue with its gangs.
type Turn struct {
	queue *queue.Queue
	jobs  heap[*framework.Job]
}

// NewTurns returns the turns of the jobs that a filter accepts.
func (s *Cycle) NewTurns(jobs []*framework.Job, filter func(*framework.Job) bool) *Turns {
	t := &Turns{s: s}
	t.queues.order = func(a, b *Turn) int { return s.Rules.CompareQueues(a.queue, b.queue) }
	byQueue := map[*model.Queue]*Turn{}
	var turns []*Turn
	for _, j := range jobs {
		if !filter(j) {
			continue
		}
		u := byQueue[j.In.Queue]
		if u == nil {
			u = &Turn{queue: j.In}
			u.jobs.order = s.Rules.CompareJobs
			byQueue[j.In.Queue] = u
			turns = append(turns, u)
		}
		u.jobs.push(j)
	}
	slices.SortFunc(turns, t.queues.order)
	t.queues.items = turns
	return t
}

// Next removes and returns the next queue and gang. ReturnTurn puts them back.
func (t *Turns) Next() (*Turn, *framework.Job, bool) {
	for {
		if t.s.Rules.ShareMoves { // the last placement may have changed the order of any queue
			t.queues.restoreHeap()
		}
		u, ok := t.queues.pop()
		if !ok {
			return nil, nil, false
		}
		if j, ok := u.jobs.pop(); ok {
			return u, j, true
		}
	}
}

// ReturnTurn puts a queue back, together with the gang unless it is nil.
func (t *Turns) ReturnTurn(u *Turn, j *framework.Job) {
	if j != nil {
		u.jobs.push(j)
	}
	if len(u.jobs.items) > 0 {
		t.queues.push(u)
	}
}

// TakeRest removes and returns the remaining gangs of a queue.
func (u *Turn) TakeRest() []*framework.Job {
	rest := u.jobs.items
	u.jobs.items = nil
	return rest
}

// Queue returns the queue.
func (u *Turn) Queue() *queue.Queue { return u.queue }
