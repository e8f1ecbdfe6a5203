package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

const (
	// maxForecast is how many waiting gangs are considered in a forecast.
	maxForecast = 64
	// maxLooked bounds the number of tasks that are placed in a forecast.
	maxLooked = 6_000
)

// ForecastStarts returns when the waiting gangs start if running tasks end at their limits and no new gangs arrive.
// It simulates the passing of time on the overlay, including the turns and reservations of action allocate, and
// undoes everything.
func (s *Planner) ForecastStarts() map[*framework.Job]Forecast {
	f := &forecaster{s: s, out: map[*framework.Job]Forecast{}}
	stuck := map[*queue.Queue]*framework.Job{} // the first gang without a forecast that blocks its strict queue
	for _, j := range s.AllWaiting {
		why := s.whyNoForecast(j)
		if why == "" {
			f.jobs = append(f.jobs, j)
			continue
		}
		f.out[j] = Forecast{Why: why}
		blocksQueue := j.IsAdmitted() && s.Waiting.BlocksOthers(j) && !s.MayPassHead(j.In)
		if !blocksQueue {
			continue
		}
		if first := stuck[j.In]; first == nil || s.Rules.CompareJobs(j, first) < 0 {
			stuck[j.In] = j
		}
	}
	f.jobs = slices.DeleteFunc(f.jobs, func(j *framework.Job) bool {
		first := stuck[j.In]
		if first == nil || s.Rules.CompareJobs(first, j) > 0 {
			return false
		}
		f.out[j] = Forecast{Why: behindUnknown}
		return true
	})
	f.sortJobs()
	f.truncateJobs()
	if len(f.jobs) == 0 {
		return f.out
	}
	f.runForecast()
	s.markCertain(f.out)
	return f.out
}

// mayPlaceMinimum reports whether an admitted gang in an open queue is below its minimum and has pods to place.
func mayPlaceMinimum(j *framework.Job) bool {
	if !j.IsAdmitted() || !j.In.AcceptsGangs() {
		return false
	}
	return j.Need() > 0 && len(j.Pending) > 0
}

// whyNoForecast returns why a gang has no forecast; "" if it can have one.
func (s *Planner) whyNoForecast(j *framework.Job) string {
	if _, never := s.NeverStarts(j); never || j.Verdict.IsNeverPossible() {
		return neverStarts
	}
	if j.IsAccountBound() {
		return s.whyNoLimitForecast(j)
	}
	if !s.UsesReservations() {
		return noLimits
	}
	if !mayPlaceMinimum(j) || !s.IsTryable(j) {
		if j.Verdict.Code == "" {
			return notPlaceable + "pods above the gang's minimum start when enough resources are free"
		}
		return notPlaceable + reason.Get(j.Verdict.Code).Sentence
	}
	if len(j.Promised)+len(j.Reserved) > 0 {
		return notPlaceable + reason.Get(reason.WaitingForVictims).Sentence
	}
	if hasLostPromise(j) {
		return notPlaceable + reason.Get(j.Verdict.Code).Sentence
	}
	if !s.canForecast(j) {
		return attaches
	}
	return ""
}

// ForecastOfNewGang returns the forecast of a gang that began to wait after the last forecast.
func (s *Planner) ForecastOfNewGang(j *framework.Job) Forecast {
	if why := s.whyNoForecast(j); why != "" {
		return Forecast{Why: why}
	}
	return Forecast{Why: notComputed}
}

// hasLostPromise reports whether resources that were promised to a gang are released in this cycle. Until the next
// cycle, they still count as held by the gang.
func hasLostPromise(j *framework.Job) bool {
	return slices.ContainsFunc(j.Pending, func(t *model.Task) bool { return t.Status == model.Pipelined })
}

// forecaster simulates the passing of time.
type forecaster struct {
	s     *Planner
	look  *Lookahead
	jobs  []*framework.Job // gangs that have not started
	out   map[*framework.Job]Forecast
	began int // the value of s.Looked when the forecast started
	// heads holds the reservations whose times cannot have changed because of the starts so far. moved marks the
	// reservations whose nodes may have changed.
	heads map[*framework.Job]*Reservation
	moved map[*framework.Job]bool
	slots map[*model.Shape]*slots
	// templates holds the slots for the pods of gangs that have no pods yet.
	templates map[*framework.Job][]*templateSlots
	// limits checks the limits of accounts in the forecast. It is empty if no gang in the forecast waits for such a limit.
	limits []framework.LimitForecast
	// waitsForLimit is true if a gang waits for a limit of its account at the current time of the forecast.
	waitsForLimit bool
	kept          struct {
		rules        []framework.NodeRule
		reservations []*Reservation
		turns        map[*framework.Job]int
	}
}

// sortJobs sorts the gangs in the initial order of turns.
func (f *forecaster) sortJobs() {
	f.s.SortGangs(f.jobs)
}

func (f *forecaster) runForecast() {
	s := f.s
	f.began = s.Looked
	f.kept.rules, f.kept.reservations, f.kept.turns = s.Rules.Nodes, s.Reservations, s.turns
	f.look = s.startLookahead()
	f.look.endings = slices.Clone(f.look.endings)
	s.Walked += len(f.look.endings)
	s.later, f.heads, f.moved = s.Now, map[*framework.Job]*Reservation{}, map[*framework.Job]bool{}
	f.countSlots()
	f.startLimits()
	for {
		for f.giveTurns() && s.Looked-f.began <= maxLooked { // a start may move reservations
			continue
		}
		next, hasNext := f.nextTime()
		if len(f.jobs) == 0 || !hasNext || s.Looked-f.began > maxLooked {
			break
		}
		s.later = next
		first := f.look.next
		f.look.AdvanceTo(s.later)
		for i := first; i < f.look.next; i++ {
			f.recountNode(f.look.endings[i].Node)
		}
		f.advanceLimits(first)
		for head, r := range f.heads { // the resources that the heads would use are idle now, or still in use
			if len(r.Idle) > 0 || !r.since.After(s.later) {
				f.moved[head] = true
			}
		}
	}
	for _, j := range f.jobs {
		f.out[j] = Forecast{Why: f.whyNotFound(j)}
	}
	s.later = time.Time{}
	f.look.Close()
	s.Rules.Nodes, s.Reservations, s.turns = f.kept.rules, f.kept.reservations, f.kept.turns
}

// whyNotFound returns why no start was found for a gang.
func (f *forecaster) whyNotFound(j *framework.Job) string {
	v := &j.Verdict
	switch {
	case f.look.next < len(f.look.endings):
		return tooFar
	case j.IsAccountBound() && !f.limitsPermit(j):
		return whyLimitStays(j)
	case hasOnlyTemplates(j):
		return noFit
	case v.Code == reason.OverDeserved && v.Limit != nil && v.Limit.IsBelowRequest(): // forecasts do not change shares
		return aboveShare
	case v.Code == reason.PodsLinger:
		return notPlaceable + reason.Get(v.Code).Sentence
	}
	return someLimits
}

// giveTurns gives every gang its turn at the current time of the forecast. It reports whether any gang started.
func (f *forecaster) giveTurns() bool {
	s := f.s
	f.sortJobs()
	s.Reservations, s.turns = nil, map[*framework.Job]int{}
	s.Rules.Nodes = f.kept.rules[:len(f.kept.rules)-len(f.kept.reservations)]
	s.Rules.Nodes = s.Rules.Nodes[:len(s.Rules.Nodes):len(s.Rules.Nodes)]
	tried := map[*queue.Queue]int{}
	blocked := map[*queue.Queue]bool{}
	f.waitsForLimit = false
	waiting := f.jobs[:0:0]
	for _, j := range f.jobs {
		s.RecordTurn(j)
		if blocked[j.In] || s.Looked-f.began > maxLooked {
			waiting = append(waiting, j)
			continue
		}
		if !f.limitsPermit(j) { // it blocks no other gang
			f.waitsForLimit = true
			waiting = append(waiting, j)
			continue
		}
		if f.tryStart(j) {
			continue
		}
		waiting = append(waiting, j)
		f.reserveForHead(j, tried)
		if j.In.Fifo && !s.MayPassHead(j.In) {
			blocked[j.In] = true
		}
	}
	started := len(waiting) < len(f.jobs)
	f.jobs = waiting
	return started
}

// tryStart places a gang now, if it fits.
func (f *forecaster) tryStart(j *framework.Job) bool {
	if len(j.Tasks) == 0 {
		return f.tryStartTemplates(j)
	}
	s := f.s
	if s.Rules.CheckOverused(j.In).Code != "" || !f.nodesMayFit(j) || !s.queueMayAllow(j) {
		return false
	}
	placed, ok := f.look.placeMinimum(j, placement.Share)
	if !ok {
		return false
	}
	for _, p := range placed {
		f.look.placed = append(f.look.placed, held{j, p})
	}
	f.recordStart(j, placed)
	return true
}

// recordStart records the start of a gang at the current time of the forecast.
func (f *forecaster) recordStart(j *framework.Job, placed []framework.Placed) {
	s, isWithoutPods := f.s, len(j.Tasks) == 0
	why := byLimits
	switch {
	case j.IsAccountBound():
		why = byAccountLimits
	case !s.IsPredictable(j):
		why = besidePods
	}
	f.out[j] = Forecast{At: s.later, Known: true, Why: why}
	f.dropMovedReservations(j, placed)
	var more []Ending
	var tasks []*model.Task
	for _, p := range placed {
		f.recountNode(p.Node)
		tasks = append(tasks, p.Task)
		length, known := p.Task.RunTime().AssumedLength()
		if known {
			more = append(more, Ending{At: s.later.Add(length), Task: p.Task, Node: p.Node, Queue: j.In, FromTemplate: isWithoutPods})
		}
	}
	f.insertEndings(more)
	for _, limits := range f.limits {
		limits.CountStarted(j, tasks, s.later)
	}
}

// dropMovedReservations drops the reservations that the start of a gang may move. These are the reservations of later
// turns, because the gang did not respect them, and the reservations that begin while the gang is still running,
// because the nodes then have less free capacity than assumed.
func (f *forecaster) dropMovedReservations(j *framework.Job, placed []framework.Placed) {
	for head, r := range f.heads {
		turn, had := f.s.turns[head]
		if !had || turn > f.s.turns[j] || slices.ContainsFunc(placed, func(p framework.Placed) bool { return !f.s.endsBy(p.Task, r.At) }) {
			delete(f.heads, head)
		} else { // the gang ends by then, so its resources may be used instead
			f.moved[head] = true
		}
	}
}

// insertEndings adds future endings to the forecast.
func (f *forecaster) insertEndings(more []Ending) {
	l := f.look
	slices.SortFunc(more, compareEndings)
	n := len(l.endings)
	l.endings = slices.Grow(l.endings, len(more))[:n+len(more)]
	for m := len(more); m > 0; m-- { // start with the last one; the endings after it move together
		at, _ := slices.BinarySearchFunc(l.endings[l.next:n], more[m-1], compareEndings)
		at += l.next
		copy(l.endings[at+m:], l.endings[at:n])
		l.endings[at+m-1] = more[m-1]
		n = at
	}
}

// reserveForHead makes a reservation for a gang if it is the first in its queue whose start can be computed.
func (f *forecaster) reserveForHead(j *framework.Job, tried map[*queue.Queue]int) {
	s := f.s
	if tried[j.In] >= MaxHeads || !s.isReservable(j) {
		return
	}
	tried[j.In]++
	r := f.heads[j]
	if r == nil || f.moved[j] {
		found, ok := f.lookFurther(j, r)
		if !ok {
			return
		}
		r = found
		f.heads[j] = r
		delete(f.moved, j)
	}
	tried[j.In] = MaxHeads
	r.turn = s.turns[j]
	r.sumEndings(f.look.endings[f.look.next:])
	s.activateReservation(r)
}

// lookFurther looks further into the future for one gang, and then returns to the current time of the forecast. last
// is the gang's reservation if its time is known; otherwise nil.
func (f *forecaster) lookFurther(j *framework.Job, last *Reservation) (r *Reservation, ok bool) {
	l, mark, next := f.look, f.s.View.Mark(), f.look.next
	if last != nil {
		l.AdvanceTo(last.At)
		r, ok = l.reserveAt(j, last.At, next)
		l.rewindTo(next, mark)
	}
	if !ok {
		r, ok = l.findReservation(j)
		l.rewindTo(next, mark)
	}
	return r, ok
}

// countSlots counts the slots for all shapes of the waiting gangs.
func (f *forecaster) countSlots() {
	f.slots, f.templates = map[*model.Shape]*slots{}, map[*framework.Job][]*templateSlots{}
	for _, j := range f.jobs {
		if hasOnlyTemplates(j) {
			f.countTemplateSlots(j)
		}
		for _, shape := range j.PendingShapes() {
			if f.slots[shape] == nil {
				f.slots[shape] = f.s.slotsOf(shape)
			}
		}
	}
}

// nodesMayFit reports whether a gang may fit, judging only by the nodes' free resources.
func (f *forecaster) nodesMayFit(j *framework.Job) bool {
	sum := 0
	for _, shape := range j.PendingShapes() {
		if sum += f.slots[shape].sum; sum >= j.Need() {
			return true
		}
	}
	return false
}

// recountNode updates the counts of all shapes and templates for a node whose free resources changed.
func (f *forecaster) recountNode(id model.NodeID) {
	for shape, n := range f.slots {
		n.recountNode(f.s, shape, id)
	}
	for _, templates := range f.templates {
		for _, n := range templates {
			n.recountNode(f.s, id)
		}
	}
}
