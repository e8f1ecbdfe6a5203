package reservation

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// maxReservations is the maximum number of reservations per cycle. A queue has at most one.
	maxReservations = 16
	// MaxHeads is how many gangs of a queue are tried to find one whose start time can be computed.
	MaxHeads = 3
)

// Reservation holds resources for a gang from the latest time at which it can start. Other gangs may start before
// it only if they do not delay it: they have ended by then, or fit besides it on its nodes and in its queue. (EASY
// backfilling: Lifka, "The ANL/IBM SP Scheduling System", 1995.)
type Reservation struct {
	Job *framework.Job
	At  time.Time
	// Placed holds the nodes where it would start.
	Placed []framework.Placed

	turn    int
	request model.Request
	// Room holds what its nodes have free besides it at that time.
	Room map[model.NodeID][]int64
	// Idle lists the nodes where it uses resources that are idle now.
	Idle []model.NodeID
	// since is the end of the first task whose resources it uses.
	since time.Time
	// ended holds, by queue, the resources of tasks that end before that time.
	ended map[*queue.Queue]model.Request
	order []*queue.Queue // keys of ended
}

// AllowsBackfill reports whether gangs of a queue may pass a gang that has a reservation.
func AllowsBackfill(q *queue.Queue) bool {
	switch q.Annotations[keys.Backfill] {
	case "true":
		return true
	case "false":
		return false
	}
	return !q.Fifo
}

// UsesReservations reports whether reservations are made: they are enabled, and some run time is known.
func (s *Planner) UsesReservations() bool { return s.Easy && s.Cluster.HasRunTimes() }

// RecordTurn records that a gang has its turn. Later gangs are behind it.
func (s *Planner) RecordTurn(j *framework.Job) {
	if !s.UsesReservations() {
		return
	}
	if s.turns == nil {
		s.turns = map[*framework.Job]int{}
	}
	s.turns[j] = len(s.turns) + 1
}

// MakeReservation makes a reservation for a gang that did not fit at its turn, if it is the first of its queue whose
// start time can be computed.
func (s *Planner) MakeReservation(j *framework.Job) {
	if !s.UsesReservations() || s.heads[j.In] >= MaxHeads || !s.isReservable(j) {
		return
	}
	if s.heads == nil {
		s.heads = map[*queue.Queue]int{}
	}
	s.heads[j.In]++
	l := s.startLookahead()
	r, ok := l.findReservation(j)
	l.Close()
	if !ok {
		return
	}
	s.heads[j.In] = MaxHeads
	r.turn = s.turns[j]
	s.activateReservation(r)
	s.WakeAt(r.At.Add(time.Second)) // tasks that were to end by then may be late
}

// isReservable reports whether a reservation may be made for a gang, if its start time is found. A gang that is known
// never to start does not use up the tries of its queue.
func (s *Planner) isReservable(j *framework.Job) bool {
	if !AllowsBackfill(j.In) && !j.In.Fifo || len(s.Reservations) == maxReservations {
		return false
	}
	return s.IsPredictable(j) && !s.Waiting.CouldNeverStart(j)
}

// MayPassHead reports whether gangs of a queue may pass its head, because the head has a reservation.
func (s *Planner) MayPassHead(q *queue.Queue) bool {
	return AllowsBackfill(q) && slices.ContainsFunc(s.Reservations, func(r *Reservation) bool { return r.Job.In == q })
}

// IsPredictable reports whether a reservation can be computed for a gang: a forecast finds when and where it starts,
// and reserving these resources is enough for it to start.
func (s *Planner) IsPredictable(j *framework.Job) bool {
	for _, shape := range j.PendingShapes() {
		if shape.Slow {
			return false
		}
	}
	return s.canForecast(j)
}

// canForecast reports whether a forecast can find when a gang starts.
func (s *Planner) canForecast(j *framework.Job) bool {
	if j.Need() == 0 || len(j.Pending) == 0 || len(j.Reserved)+len(j.Placed)+len(j.Promised) > 0 {
		return false
	}
	for _, shape := range j.PendingShapes() {
		if shape.Attached != nil {
			return false
		}
	}
	_, never := s.NeverStarts(j)
	return !never
}

// findReservation finds the earliest start of a gang and the resources left free besides it.
func (l *Lookahead) findReservation(j *framework.Job) (*Reservation, bool) {
	from := 0
	if !l.s.later.IsZero() { // what ended before the time of the forecast counts as idle
		from = l.next
	}
	at, ok := l.findEarliestStart(j, placement.Share)
	if !ok {
		return nil, false
	}
	return l.reserveAt(j, at, from)
}

// reserveAt makes a reservation for a gang at the current time of the forecast. It first uses resources that become
// free in time, by the endings from the given index on: resources that are idle earlier are useful to others until
// then, and beyond.
func (l *Lookahead) reserveAt(j *framework.Job, at time.Time, from int) (*Reservation, bool) {
	s := l.s
	mark := s.View.Mark()
	freed := s.newFreedRoom(l.endings[from:l.next])
	placed, ok := l.placePreferring(j, placement.Share, freed)
	if !ok { // it may fit if other pods are placed first
		freed.Reset()
		placed, ok = l.placeMinimum(j, placement.Share)
	}
	if !ok { // earliest has just found that it fits
		return nil, false
	}
	r := &Reservation{Job: j, At: at, Placed: placed, Room: map[model.NodeID][]int64{}}
	var tasks []*model.Task
	for _, p := range placed {
		tasks = append(tasks, p.Task)
		if r.Room[p.Node] == nil {
			idle, future := s.View.Nodes.Row(s.View.Idle, p.Node), slices.Clone(s.View.Nodes.Row(s.View.Future, p.Node))
			for i := range future {
				future[i] = min(future[i], idle[i])
			}
			r.Room[p.Node] = future
		}
	}
	r.request = framework.SumRequests(tasks)
	r.Idle, r.since = freed.otherNodes(placed), freed.firstEndingTime()
	r.sumEndings(l.endings)
	s.UndoPlacements(j, placed, mark)
	return r, true
}

// sumEndings sums what ends before the reservation begins.
func (r *Reservation) sumEndings(endings []Ending) {
	r.ended, r.order = map[*queue.Queue]model.Request{}, nil
	sums := map[*queue.Queue]*model.Vec{}
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
			sum = &model.Vec{}
			sums[e.Queue], r.order = sum, append(r.order, e.Queue)
		}
		sum.Add(e.Task.Shape.Request)
	}
	for q, sum := range sums {
		r.ended[q] = session.ToRequest(*sum)
	}
}

// CountEnded adds a request to the resources that end in a queue before the reservation begins.
func (r *Reservation) CountEnded(q *queue.Queue, request model.Request, sign int64) {
	sum, known := r.ended[q]
	if !known {
		r.order = append(r.order, q)
	}
	for _, t := range request {
		at, found := slices.BinarySearchFunc(sum, t.Index, func(o model.Term, index int32) int { return cmp.Compare(o.Index, index) })
		if !found {
			sum = slices.Insert(sum, at, model.Term{Index: t.Index})
		}
		sum[at].Value += sign * t.Value
	}
	r.ended[q] = sum
}

// activateReservation activates a reservation: from now on, its nodes accept only tasks that do not delay it.
func (s *Planner) activateReservation(r *Reservation) {
	s.Reservations = append(s.Reservations, r)
	s.Rules.Nodes = append(s.Rules.Nodes, framework.NodeRule{
		Name: "backfill", Reserves: true,
		Applies: func(j *framework.Job, t *model.Task) bool { return s.restrictsTask(r, j, t) },
		Allows: func(_ *framework.Job, t *model.Task, id model.NodeID, _ bool) (reason.Code, string) {
			if row, mine := r.Room[id]; mine && !fitsRow(t.Shape.Request, row) {
				return reason.Reserved, r.Job.Title()
			}
			return "", ""
		},
		Placed: func(j *framework.Job, t *model.Task, id model.NodeID, sign int) {
			s.updateReservation(r, j, t, id, int64(sign))
		},
	})
}

// restrictsTask reports whether a reservation restricts a task: its gang is behind, and the task does not end by then.
func (s *Planner) restrictsTask(r *Reservation, j *framework.Job, t *model.Task) bool {
	return s.IsBehind(r, j) && !s.endsBy(t, r.At)
}

// RestrictsAny reports whether a reservation restricts one of a gang's tasks.
func (s *Planner) RestrictsAny(r *Reservation, j *framework.Job) bool {
	return slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return s.restrictsTask(r, j, t) })
}

// TakeFirstTurn moves a gang before all reservations, until undo is called. It simulates another order.
func (s *Planner) TakeFirstTurn(j *framework.Job) (undo func()) {
	if len(s.Reservations) == 0 || s.turns == nil {
		return func() {}
	}
	turn, had := s.turns[j]
	s.turns[j] = 0
	return func() {
		if had {
			s.turns[j] = turn
		} else {
			delete(s.turns, j)
		}
	}
}

// IsBehind reports whether a gang is behind the gang of a reservation.
func (s *Planner) IsBehind(r *Reservation, j *framework.Job) bool {
	turn, had := s.turns[j]
	return j != r.Job && (!had || turn >= r.turn)
}

// FreeReservations returns the reservations that do not restrict any, or all, of a gang's tasks, as a bit set. Bits of
// reservations that do not exist yet are set.
func (s *Planner) FreeReservations(j *framework.Job, anyTask bool) uint32 {
	free := ^uint32(0)
	for i, r := range s.Reservations {
		binds := func(t *model.Task) bool { return s.restrictsTask(r, j, t) }
		frees := func(t *model.Task) bool { return !s.restrictsTask(r, j, t) }
		if anyTask && !slices.ContainsFunc(j.Pending, frees) || !anyTask && slices.ContainsFunc(j.Pending, binds) {
			free &^= 1 << i
		}
	}
	return free
}

// endsBy reports whether a task that starts now has ended by a time.
func (s *Planner) endsBy(t *model.Task, at time.Time) bool {
	length, known := t.RunTime().AssumedLength()
	return known && !s.currentTime().Add(length).After(at)
}

// currentTime returns the current time of the forecast; without a forecast, now.
func (s *Planner) currentTime() time.Time {
	if s.later.IsZero() {
		return s.Now
	}
	return s.later
}

// updateReservation updates a reservation after a placement.
func (s *Planner) updateReservation(r *Reservation, j *framework.Job, t *model.Task, id model.NodeID, sign int64) {
	if j == r.Job {
		return
	}
	if s.endsBy(t, r.At) {
		r.CountEnded(j.In, t.Shape.Request, sign)
		return
	}
	if row, mine := r.Room[id]; mine {
		for _, term := range t.Shape.Request {
			row[term.Index] -= sign * term.Value
		}
	}
}

func fitsRow(request model.Request, row []int64) bool {
	for _, t := range request {
		if int(t.Index) >= len(row) || t.Value > row[t.Index] {
			return false
		}
	}
	return true
}

// CheckReserved returns a verdict if a queue's limits would not leave room for a reservation if the task started
// now.
func (s *Planner) CheckReserved(j *framework.Job, t *model.Task) explain.Verdict {
	return s.CheckReservedBy(func(r *Reservation) bool { return s.restrictsTask(r, j, t) }, j, t)
}

// CheckReservedBy is CheckReserved for the reservations that binds selects.
func (s *Planner) CheckReservedBy(binds func(*Reservation) bool, j *framework.Job, t *model.Task) explain.Verdict {
	return s.CheckReservedLimits(binds, j, t.Shape.Request)
}

// shiftLedger changes the ledger to the time when the reservation begins (-1) and back (1).
func (r *Reservation) shiftLedger(sign float64) {
	for _, q := range r.order {
		q.AddAllocated(r.ended[q], sign)
	}
	r.Job.In.AddAllocated(r.request, -sign)
}

// ExplainReserved changes the verdict of a gang that does not fit because of reservations: it names the gangs with
// the reservations and the time.
func (s *Planner) ExplainReserved(j *framework.Job, v explain.Verdict) explain.Verdict {
	if v.Code != reason.GangDoesNotFit || len(s.Reservations) == 0 {
		return v
	}
	if told := j.Status.Explanation; told != nil && told.Reason == string(reason.Reserved) && v.Limit == nil && s.isLentOut(j, &v) {
		return v
	}
	for i := range v.Tally.Counts {
		c := &v.Tally.Counts[i]
		if c.Reason != reason.Reserved {
			continue
		}
		v.Code = reason.Reserved
		for _, r := range s.Reservations {
			if r.Job.Title() == c.Detail && !slices.Contains(v.Blocker, c.Detail) {
				v.Blocker, v.Ahead = append(v.Blocker, c.Detail), append(v.Ahead, r.Job.Gang)
				if v.Until.IsZero() || r.At.Before(v.Until) {
					v.Until = r.At
				}
			}
		}
	}
	return v
}

// isLentOut reports whether the resources reserved for another gang are used by tasks that end before that gang
// starts. The gang then still waits because of the reservation, so its reason does not change with each task that
// passes.
func (s *Planner) isLentOut(j *framework.Job, v *explain.Verdict) bool {
	if v.Task == nil || slices.ContainsFunc(v.Tally.Counts, func(c explain.Count) bool { return c.Reason == reason.Reserved }) {
		return false
	}
	for _, r := range s.Reservations {
		if s.restrictsTask(r, j, v.Task) && s.wouldFitReserved(r, v.Task) {
			v.Code, v.Full, v.Until = reason.Reserved, true, r.At
			v.Blocker, v.Ahead = []string{r.Job.Title()}, []*model.Gang{r.Job.Gang}
			return true
		}
	}
	return false
}

// maxLent bounds the nodes of a reservation that are checked.
const maxLent = 16

// wouldFitReserved reports whether a task would fit on a node of a reservation, without the reservation, once the tasks
// that end before it have ended.
func (s *Planner) wouldFitReserved(r *Reservation, t *model.Task) bool {
	looked := map[model.NodeID]bool{}
	for _, p := range r.Placed {
		if looked[p.Node] || !s.Judge.IsAllowed(t.Shape, p.Node) || fitsRow(t.Shape.Request, r.Room[p.Node]) {
			continue
		}
		if looked[p.Node] = true; len(looked) > maxLent {
			return false
		}
		free := slices.Clone(s.View.Nodes.Row(s.View.Idle, p.Node))
		for _, o := range s.View.Nodes.Tasks[p.Node] {
			if at, known := o.LatestEndTime(s.Now); known && !at.After(r.At) {
				for _, term := range o.Shape.Request {
					free[term.Index] += term.Value
				}
			}
		}
		if fitsRow(t.Shape.Request, free) {
			return true
		}
	}
	return false
}

// CheckReservedLimits returns a verdict if a queue's limits would not leave room for a reservation if a gang with a
// request started now.
func (s *Planner) CheckReservedLimits(binds func(*Reservation) bool, j *framework.Job, request model.Request) explain.Verdict {
	for _, r := range s.Reservations {
		if !binds(r) {
			continue
		}
		r.shiftLedger(-1)
		v := s.Waiting.MayHold(j.In, request, j, r.Job)
		r.shiftLedger(1)
		if v.Code != "" {
			return explain.Verdict{Code: reason.Reserved, Blocker: []string{r.Job.Title()}, Ahead: []*model.Gang{r.Job.Gang}, Until: r.At, Limit: v.Limit}
		}
	}
	return explain.Verdict{}
}
