package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

const (
	// maxReservations a cycle: one a queue, so many queues.
	maxReservations = 16
	// maxHeads is how many gangs of a queue are looked at for one whose start can be known.
	maxHeads = 3
)

// Reservation is room that is kept for a gang from the time on at which it can
// start at the latest. Others may have started in front of it only if they do not
// delay it: they have ended by then, or fit beside it on its nodes and in its queue.
// (EASY: Lifka, "The ANL/IBM SP Scheduling System", 1995.)
type Reservation struct {
	Job *Job
	At  time.Time
	// Placed is where it would start.
	Placed []Placed

	turn    int
	request model.Request
	// room is what its nodes have beside it then.
	room map[model.NodeID][]int64
	// idle are nodes where it takes room that is idle now; since is when the first task ends whose room it takes.
	idle  []model.NodeID
	since time.Time
	// ended is what queues hold less then than now.
	ended map[*queue.Queue]model.Request
	order []*queue.Queue // keys of ended
}

// Backfills says whether gangs of a queue may pass one that has a reservation.
func Backfills(q *queue.Queue) bool {
	switch q.Annotations[keys.Backfill] {
	case "true":
		return true
	case "false":
		return false
	}
	return !q.Fifo
}

// easy says whether reservations are made: where any run time is known.
func (s *Session) easy() bool { return s.Easy && s.Cluster.Timed() }

// TakesTurn notes that a gang has its turn: those after it are behind it.
func (s *Session) TakesTurn(j *Job) {
	if !s.easy() {
		return
	}
	if s.turns == nil {
		s.turns = map[*Job]int{}
	}
	s.turns[j] = len(s.turns) + 1
}

// Reserve keeps room for a gang that did not fit at its turn, when it is the
// first of its queue whose start can be known.
func (s *Session) Reserve(j *Job) {
	if !s.easy() || s.heads[j.In] >= maxHeads || !s.reservable(j) {
		return
	}
	if s.heads == nil {
		s.heads = map[*queue.Queue]int{}
	}
	s.heads[j.In]++
	l := s.ahead()
	r, ok := l.reserve(j)
	l.close()
	if !ok {
		return
	}
	s.heads[j.In] = maxHeads
	r.turn = s.turns[j]
	s.keepFor(r)
	s.WakeAt(r.At.Add(time.Second)) // what was to end by then may be late
}

// reservable reports whether room may be reserved for a gang if it is found when it starts. One that is known to start never
// takes none of the tries that a queue has.
func (s *Session) reservable(j *Job) bool {
	if !Backfills(j.In) && !j.In.Fifo || len(s.Reservations) == maxReservations {
		return false
	}
	return s.foreseeable(j) && !s.couldNever(j)
}

// Passable says whether gangs of a queue may pass its head: room is kept for that.
func (s *Session) Passable(q *queue.Queue) bool {
	return Backfills(q) && slices.ContainsFunc(s.Reservations, func(r *Reservation) bool { return r.Job.In == q })
}

// foreseeable says whether room can be kept for a gang: looking ahead tells when and
// where it starts, and what keeps that room is all that it takes.
func (s *Session) foreseeable(j *Job) bool {
	for _, shape := range j.Shapes() {
		if shape.Slow {
			return false
		}
	}
	return s.simple(j)
}

// simple says whether looking ahead can tell when a gang starts.
func (s *Session) simple(j *Job) bool {
	if j.Need() == 0 || len(j.Pending) == 0 || len(j.Reserved)+len(j.Placed)+len(j.Promised) > 0 {
		return false
	}
	for _, shape := range j.Shapes() {
		if shape.Attached != nil {
			return false
		}
	}
	_, never := s.Never(j)
	return !never
}

// reserve finds the earliest start of a gang and what is left beside it then.
func (l *lookahead) reserve(j *Job) (*Reservation, bool) {
	from := 0
	if !l.s.later.IsZero() { // what ended before the time that is looked at is idle
		from = l.next
	}
	at, ok := l.earliest(j, Share)
	if !ok {
		return nil, false
	}
	return l.reserveAt(j, at, from)
}

// reserveAt reserves room for a gang at the time that is reached. It takes room first that is in use before, by endings from
// the given one on, and becomes free in time: what is idle before is of use to others until then, and beyond.
func (l *lookahead) reserveAt(j *Job, at time.Time, from int) (*Reservation, bool) {
	s := l.s
	mark := s.View.Mark()
	freed := freedBy(l.endings[from:l.next])
	placed, ok := l.placeFirst(j, Share, freed)
	if !ok { // with others of its pods first it may fit
		freed.reset()
		placed, ok = l.place(j, Share)
	}
	if !ok { // earliest has just seen that it fits
		return nil, false
	}
	r := &Reservation{Job: j, At: at, Placed: placed, room: map[model.NodeID][]int64{}}
	var tasks []*model.Task
	for _, p := range placed {
		tasks = append(tasks, p.Task)
		if r.room[p.Node] == nil {
			idle, future := s.View.Nodes.Row(s.View.Idle, p.Node), slices.Clone(s.View.Nodes.Row(s.View.Future, p.Node))
			for i := range future {
				future[i] = min(future[i], idle[i])
			}
			r.room[p.Node] = future
		}
	}
	r.request = Sum(tasks)
	r.idle, r.since = freed.others(placed), freed.since()
	r.endsIn(l.endings)
	(&round{s: s, job: j, placed: placed}).undo(mark)
	return r, true
}

// endsIn sums up what ends until the reservation begins.
func (r *Reservation) endsIn(endings []Ending) {
	r.ended, r.order = map[*queue.Queue]model.Request{}, nil
	for i := range endings {
		e := &endings[i]
		if e.At.After(r.At) {
			return
		}
		if e.in != nil && !e.leaving {
			r.count(e.in, e.Task.Shape.Request, 1)
		}
	}
}

// count adds to what ends in a queue until the reservation begins.
func (r *Reservation) count(q *queue.Queue, request model.Request, sign int64) {
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

// keepFor makes a reservation count: from now on its nodes take only what does
// not delay it.
func (s *Session) keepFor(r *Reservation) {
	s.Reservations = append(s.Reservations, r)
	s.Rules.Nodes = append(s.Rules.Nodes, NodeRule{
		Name:    "backfill",
		Applies: func(j *Job, t *model.Task) bool { return s.bound(r, j, t) },
		Allows: func(_ *Job, t *model.Task, id model.NodeID, _ bool) (reason.Code, string) {
			if row, mine := r.room[id]; mine && !fitsRow(t.Shape.Request, row) {
				return reason.Reserved, r.Job.Title()
			}
			return "", ""
		},
		Placed: func(j *Job, t *model.Task, id model.NodeID, sign int) { s.beside(r, j, t, id, int64(sign)) },
	})
}

// bound says whether a reservation binds a task: its gang is behind, and it has
// not ended by then.
func (s *Session) bound(r *Reservation, j *Job, t *model.Task) bool {
	return s.after(r, j) && !s.endsBy(t, r.At)
}

// after says whether a gang is behind that of a reservation.
func (s *Session) after(r *Reservation, j *Job) bool {
	turn, had := s.turns[j]
	return j != r.Job && (!had || turn >= r.turn)
}

// freeOf are the reservations that do not bind a gang, a bit each: any or all of
// its tasks. Those that are not made yet bind nobody.
func (s *Session) freeOf(j *Job, anyTask bool) uint32 {
	free := ^uint32(0)
	for i, r := range s.Reservations {
		binds := func(t *model.Task) bool { return s.bound(r, j, t) }
		frees := func(t *model.Task) bool { return !s.bound(r, j, t) }
		if anyTask && !slices.ContainsFunc(j.Pending, frees) || !anyTask && slices.ContainsFunc(j.Pending, binds) {
			free &^= 1 << i
		}
	}
	return free
}

// ruledByPolicy is RuledBy without reservations.
func (s *Session) ruledByPolicy(j *Job, t *model.Task) bool {
	for _, rule := range s.Rules.Nodes[:len(s.Rules.Nodes)-len(s.Reservations)] {
		if rule.Allows != nil && rule.Applies(j, t) {
			return true
		}
	}
	return false
}

// endsBy says whether a task that starts now has ended by a time.
func (s *Session) endsBy(t *model.Task, at time.Time) bool {
	length, known := t.RunTime().Length()
	return known && !s.clock().Add(length).After(at)
}

// clock is the time that is looked at: now, or later when looking ahead.
func (s *Session) clock() time.Time {
	if s.later.IsZero() {
		return s.Now
	}
	return s.later
}

// beside follows what is placed after a reservation was made.
func (s *Session) beside(r *Reservation, j *Job, t *model.Task, id model.NodeID, sign int64) {
	if j == r.Job {
		return
	}
	if s.endsBy(t, r.At) {
		r.count(j.In, t.Shape.Request, sign)
		return
	}
	if row, mine := r.room[id]; mine {
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

// keptOf says that a queue's limits would not leave room for a reservation if
// the task started now.
func (s *Session) keptOf(j *Job, t *model.Task) explain.Verdict {
	return s.keptBy(func(r *Reservation) bool { return s.bound(r, j, t) }, j, t)
}

// keptBy is keptOf for those reservations that bind it.
func (s *Session) keptBy(binds func(*Reservation) bool, j *Job, t *model.Task) explain.Verdict {
	return s.keptAmount(binds, j, t.Shape.Request)
}

// shift moves the ledger to when the reservation begins (-1) and back (1).
func (r *Reservation) shift(sign float64) {
	for _, q := range r.order {
		q.Hold(r.ended[q], sign)
	}
	r.Job.In.Hold(r.request, -sign)
}

// reservedVerdict says for whom room is kept, when that is why a gang does not
// fit; and since when.
func (s *Session) reservedVerdict(j *Job, v explain.Verdict) explain.Verdict {
	if v.Code != reason.GangDoesNotFit || len(s.Reservations) == 0 {
		return v
	}
	if told := j.Status.Explanation; told != nil && told.Reason == string(reason.Reserved) && v.Limit == nil && s.lentOut(j, &v) {
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

// lentOut says that the room that a gang was told is kept for another is in use by
// somebody who ends before that one comes: then that is what it waits for still,
// and its reason does not change with each of those who pass.
func (s *Session) lentOut(j *Job, v *explain.Verdict) bool {
	if v.Task == nil || slices.ContainsFunc(v.Tally.Counts, func(c explain.Count) bool { return c.Reason == reason.Reserved }) {
		return false
	}
	for _, r := range s.Reservations {
		if s.bound(r, j, v.Task) && s.lent(r, v.Task) {
			v.Code, v.Full, v.Until = reason.Reserved, true, r.At
			v.Blocker, v.Ahead = []string{r.Job.Title()}, []*model.Gang{r.Job.Gang}
			return true
		}
	}
	return false
}

// maxLent bounds the nodes of a reservation that are looked at.
const maxLent = 16

// lent says whether a task would fit on a node of a reservation when those have
// ended that end before it, but for the reservation.
func (s *Session) lent(r *Reservation, t *model.Task) bool {
	looked := map[model.NodeID]bool{}
	for _, p := range r.Placed {
		if looked[p.Node] || !s.Judge.Allowed(t.Shape, p.Node) || fitsRow(t.Shape.Request, r.room[p.Node]) {
			continue
		}
		if looked[p.Node] = true; len(looked) > maxLent {
			return false
		}
		free := slices.Clone(s.View.Nodes.Row(s.View.Idle, p.Node))
		for _, o := range s.View.Nodes.Tasks[p.Node] {
			if at, known := o.End(s.Now); known && !at.After(r.At) {
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

// Heads are the first of each queue among the gangs that are not looked at in
// this cycle and could be reserved room for: whoever comes after them must know. As
// many as Reserve would try, since of the first ones it may find no start; those
// that may not be tried at all stand before nobody.
func (s *Session) Heads() []*Job {
	if !s.easy() {
		return nil
	}
	first := map[*queue.Queue][]*Job{}
	var order []*queue.Queue
	for _, j := range s.AllWaiting {
		if !j.Parked || j.behind() || !j.LetIn() || j.Need() == 0 || len(j.Pending) == 0 || !j.In.Known || !j.In.Open {
			continue
		}
		heads, begun := first[j.In]
		at, _ := slices.BinarySearchFunc(heads, j, s.Rules.CompareJobs)
		if at == maxHeads || !s.foreseeable(j) || !j.Tryable(s) {
			continue
		}
		if s.couldNever(j) {
			continue
		}
		if !begun {
			order = append(order, j.In)
		}
		heads = slices.Insert(heads, at, j)
		first[j.In] = heads[:min(len(heads), maxHeads)]
	}
	var heads []*Job
	for _, q := range order {
		heads = append(heads, first[q]...)
	}
	return heads
}
