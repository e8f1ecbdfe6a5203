package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

const (
	// maxReservations is the maximum number of reservations per cycle. A queue has at most one.
	maxReservations = 16
	// MaxHeads is how many gangs of a queue are tried to find one whose start time can be computed.
	MaxHeads = 3
)

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

// UsesReservations reports whether reservations are made. This requires that they are enabled and that some run time
// is known.
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

// MakeReservation makes a reservation for a gang that did not fit at its turn. It does so only for the first gang in
// a queue whose start time can be computed.
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

// isReservable reports whether a reservation may be made for a gang if its start time is found. A gang that is known
// never to start does not use up the attempts of its queue.
func (s *Planner) isReservable(j *framework.Job) bool {
	if (!AllowsBackfill(j.In) && !j.In.Fifo) || len(s.Reservations) == maxReservations {
		return false
	}
	if j.IsAccountBound() {
		return false
	}
	return s.IsPredictable(j) && !s.Waiting.CouldNeverStart(j)
}

// MayPassHead reports whether gangs of a queue may pass its head, which requires that the head has a reservation.
func (s *Planner) MayPassHead(q *queue.Queue) bool {
	return AllowsBackfill(q) && slices.ContainsFunc(s.Reservations, func(r *Reservation) bool { return r.Job.In == q })
}

// IsPredictable reports whether a reservation can be computed for a gang. This requires that a forecast can find when
// and where the gang starts, and that reserving these resources is enough for it to start.
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

// findReservation finds the earliest start of a gang and the resources that remain free beside it.
func (l *Lookahead) findReservation(j *framework.Job) (*Reservation, bool) {
	from := 0
	if !l.s.later.IsZero() { // resources freed before the forecast time count as idle
		from = l.next
	}
	at, ok := l.findEarliestStart(j, placement.Share)
	if !ok {
		return nil, false
	}
	return l.reserveAt(j, at, from)
}

// reserveAt makes a reservation for a gang at the current time of the forecast. It first uses resources that are
// freed by the endings from the given index on, because resources that are idle earlier are useful to other gangs
// until then and longer.
func (l *Lookahead) reserveAt(j *framework.Job, at time.Time, from int) (*Reservation, bool) {
	s := l.s
	mark := s.View.Mark()
	freed := s.newFreedRoom(l.endings[from:l.next])
	placed, ok := l.placePreferring(j, placement.Share, freed)
	if !ok { // it may fit if other pods are placed first
		freed.Reset()
		placed, ok = l.placeMinimum(j, placement.Share)
	}
	if !ok { // findEarliestStart has just found that it fits
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

// activateReservation activates a reservation. From then on, its nodes accept only tasks that do not delay it.
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

// TakeFirstTurn moves a gang before all reservations until undo is called. This simulates another order of gangs.
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

// updateReservation updates a reservation after a placement by another gang.
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

// CheckReserved returns a verdict if a queue's limits would no longer permit a reservation if the task started now.
func (s *Planner) CheckReserved(j *framework.Job, t *model.Task) explain.Verdict {
	return s.CheckReservedBy(func(r *Reservation) bool { return s.restrictsTask(r, j, t) }, j, t)
}

// CheckReservedBy is like CheckReserved, but checks only the reservations that binds selects.
func (s *Planner) CheckReservedBy(binds func(*Reservation) bool, j *framework.Job, t *model.Task) explain.Verdict {
	return s.CheckReservedLimits(binds, j, t.Shape.Request)
}

// ExplainReserved changes the verdict of a gang that does not fit because of reservations. It names the gangs that
// have the reservations and the time when the first of them begins.
func (s *Planner) ExplainReserved(j *framework.Job, v explain.Verdict) explain.Verdict {
	if v.Code != reason.GangDoesNotFit || len(s.Reservations) == 0 {
		return v
	}
	published := j.Status.Explanation
	wasReserved := published != nil && published.Reason == string(reason.Reserved)
	if wasReserved && v.Limit == nil && s.isLentOut(j, &v) {
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
// starts. The gang j is then still waiting because of the reservation, so its reason does not change whenever such a
// task passes it.
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

// maxLent bounds how many nodes of a reservation are checked.
const maxLent = 16

// wouldFitReserved reports whether a task would fit on a node of a reservation if there were no reservation and the
// tasks that end before it had ended.
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

// CheckReservedLimits returns a verdict if a queue's limits would no longer permit a reservation if a gang with the
// given request started now.
func (s *Planner) CheckReservedLimits(binds func(*Reservation) bool, j *framework.Job, request resource.Request) explain.Verdict {
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

// maxLendable bounds how many nodes of a reservation are tried for one task.
const maxLendable = 256

// FindLentNode returns a node with reserved idle resources, if the given task ends before the reservation begins.
// Only such tasks can use these resources, so resources elsewhere stay available to tasks that run longer.
func (s *Planner) FindLentNode(j *framework.Job, t *model.Task) (model.NodeID, bool) {
	if len(s.Reservations) == 0 || s.IsEvicting() || t.Shape.Preferred != nil {
		return model.NoNode, false
	}
	for _, kept := range s.Reservations {
		if !s.IsBehind(kept, j) || s.restrictsTask(kept, j, t) {
			continue
		}
		for _, id := range kept.Idle[:min(len(kept.Idle), maxLendable)] {
			if !fitsRow(t.Shape.Request, kept.Room[id]) && s.FitsOn(j, t, id) {
				return id, true
			}
		}
	}
	return model.NoNode, false
}
