package session

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// heap is a binary heap with an order that may depend on the cycle.
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
	h.sink(0)
	return x, true
}

// bringLeast puts the least item first when others than the last one popped have
// changed since they were pushed.
func (h *heap[T]) bringLeast() {
	for i := len(h.items)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// sink puts the item at i in its place among those below it.
func (h *heap[T]) sink(i int) {
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

// Turns hands out gangs: the queue whose turn it is first, in it the gang whose
// turn it is. Orders are looked at anew at every turn, as shares move.
type Turns struct {
	s      *Session
	queues heap[*Turn]
}

// Turn is one queue with its gangs.
type Turn struct {
	queue *queue.Queue
	jobs  heap[*Job]
}

// Turns takes the jobs that a filter accepts.
func (s *Session) Turns(jobs []*Job, filter func(*Job) bool) *Turns {
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

// Next gives the next queue and gang; both are out until Back returns them.
func (t *Turns) Next() (*Turn, *Job, bool) {
	for {
		if t.s.Rules.ShareMoves { // what the last one got may have moved any of them
			t.queues.bringLeast()
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

// Back puts the queue back, and the gang when it wants more.
func (t *Turns) Back(u *Turn, j *Job) {
	if j != nil {
		u.jobs.push(j)
	}
	if len(u.jobs.items) > 0 {
		t.queues.push(u)
	}
}

// Rest empties a queue that gets nothing more and returns its gangs.
func (u *Turn) Rest() []*Job {
	rest := u.jobs.items
	u.jobs.items = nil
	return rest
}

// Queue is whose turn it is.
func (u *Turn) Queue() *queue.Queue { return u.queue }
