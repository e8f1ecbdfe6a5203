package reservation

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Reservation holds resources for a gang from the latest time at which it can start. Other gangs may start before it
// only if they do not delay it, which means that they will have ended by then or fit beside it on its nodes and in
// its queue. (EASY backfilling: Lifka, "The ANL/IBM SP Scheduling System", 1995.)
type Reservation struct {
	Job *framework.Job
	At  time.Time
	// Placed holds the nodes on which the gang would start.
	Placed []framework.Placed

	turn    int
	request resource.Request
	// Room holds the resources that its nodes will have free beside the gang at that time.
	Room map[model.NodeID][]int64
	// Idle lists the nodes on which the gang would use resources that are idle now.
	Idle []model.NodeID
	// since is the end of the first task whose resources the gang would use.
	since time.Time
	// ended holds, for each queue, the resources of tasks that end before that time.
	ended map[*queue.Queue]resource.Request
	order []*queue.Queue // the keys of the map ended
}

// sumEndings sums up the resources of the tasks that end before the reservation begins.
func (r *Reservation) sumEndings(endings []Ending) {
	r.ended, r.order = map[*queue.Queue]resource.Request{}, nil
	sums := map[*queue.Queue]*resource.Vec{}
	for i := range endings {
		e := &endings[i]
		if e.At.After(r.At) {
			break
		}
		if e.Queue == nil || e.Leaving {
			continue
		}
		sum := sums[e.Queue]
		if sum == nil {
			sum = &resource.Vec{}
			sums[e.Queue], r.order = sum, append(r.order, e.Queue)
		}
		sum.Add(e.Task.Shape.Request)
	}
	for q, sum := range sums {
		r.ended[q] = session.ToRequest(*sum)
	}
}

// CountEnded adds a request, multiplied by sign, to the resources that end in a queue before the reservation begins.
func (r *Reservation) CountEnded(q *queue.Queue, request resource.Request, sign int64) {
	sum, known := r.ended[q]
	if !known {
		r.order = append(r.order, q)
	}
	for _, t := range request {
		at, found := slices.BinarySearchFunc(sum, t.Index, func(o resource.Term, index int32) int { return cmp.Compare(o.Index, index) })
		if !found {
			sum = slices.Insert(sum, at, resource.Term{Index: t.Index})
		}
		sum[at].Value += sign * t.Value
	}
	r.ended[q] = sum
}

// restrictsTask reports whether a reservation restricts a task. It does so if the task's gang is behind the
// reservation's gang and the task does not end before the reservation begins.
func (s *Planner) restrictsTask(r *Reservation, j *framework.Job, t *model.Task) bool {
	return s.IsBehind(r, j) && !s.endsBy(t, r.At)
}

// RestrictsAny reports whether a reservation restricts one of a gang's tasks.
func (s *Planner) RestrictsAny(r *Reservation, j *framework.Job) bool {
	return slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return s.restrictsTask(r, j, t) })
}

// IsBehind reports whether a gang is behind the gang of a reservation.
func (s *Planner) IsBehind(r *Reservation, j *framework.Job) bool {
	turn, had := s.turns[j]
	return j != r.Job && (!had || turn >= r.turn)
}

// FreeReservations returns the reservations that leave at least one of a gang's tasks unrestricted, or all of them if
// anyTask is false, as a bit set. Bits of reservations that do not exist yet are set.
func (s *Planner) FreeReservations(j *framework.Job, anyTask bool) uint32 {
	free := ^uint32(0)
	for i, r := range s.Reservations {
		binds := func(t *model.Task) bool { return s.restrictsTask(r, j, t) }
		frees := func(t *model.Task) bool { return !s.restrictsTask(r, j, t) }
		var isRestricted bool
		if anyTask {
			isRestricted = !slices.ContainsFunc(j.Pending, frees)
		} else {
			isRestricted = slices.ContainsFunc(j.Pending, binds)
		}
		if isRestricted {
			free &^= 1 << i
		}
	}
	return free
}

// endsBy reports whether a task that starts now will have ended by a given time.
func (s *Planner) endsBy(t *model.Task, at time.Time) bool {
	length, known := t.RunTime().AssumedLength()
	return known && !s.currentTime().Add(length).After(at)
}

// currentTime returns the current time of the forecast or, without a forecast, the time of the cycle.
func (s *Planner) currentTime() time.Time {
	if s.later.IsZero() {
		return s.Now
	}
	return s.later
}

func fitsRow(request resource.Request, row []int64) bool {
	for _, t := range request {
		if int(t.Index) >= len(row) || t.Value > row[t.Index] {
			return false
		}
	}
	return true
}

// shiftLedger changes the ledger to the state when the reservation begins (sign -1) or back (sign 1).
func (r *Reservation) shiftLedger(sign float64) {
	for _, q := range r.order {
		q.AddAllocated(r.ended[q], sign)
	}
	r.Job.In.AddAllocated(r.request, -sign)
}
