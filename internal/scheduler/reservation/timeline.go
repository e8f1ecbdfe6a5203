package reservation

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// KnownEndings returns the tasks that end at known times, in order. Tasks placed in this cycle start now, and evicted
// tasks are leaving. The list is computed once per cycle, and again after changes to the overlay.
func (s *Planner) KnownEndings() []Ending {
	if s.endings != nil && s.endingsAt == s.View.Mark() {
		return s.endings
	}
	if s.EndingLog == nil {
		s.EndingLog = &EndingLog{}
	}
	if !s.endingsKnown {
		s.EndingLog.updateFrom(s.Session)
		s.endingsKnown = true
	}
	s.endingsAt = s.View.Mark()
	out := map[*model.Task]bool{}
	var own []Ending
	for i := range s.Out.Evicts {
		if t := s.Cluster.Task(s.Out.Evicts[i].Pod.UID); t != nil && t.Node != model.NoNode {
			out[t] = true
			own = append(own, Ending{At: s.Now, Task: t, Node: t.Node, Leaving: true})
		}
	}
	own = s.AppendHeldEndings(own)
	for _, j := range s.Bound {
		for _, p := range j.Placed {
			if at, known := p.Task.LatestEndTime(s.Now); known {
				own = append(own, Ending{At: at, Task: p.Task, Node: p.Node, Queue: j.In})
			}
		}
	}
	s.endings = append(s.endings[:0], Ending{})[:0]
	for i := range s.EndingLog.list {
		e := s.EndingLog.list[i]
		if len(out) > 0 && out[e.Task] {
			continue
		}
		e.Queue = s.queueOf(e.Task)
		s.endings = append(s.endings, e)
	}
	if len(own) > 0 {
		s.endings = append(s.endings, own...)
		slices.SortFunc(s.endings, compareEndings)
	}
	return s.endings
}

func (s *Planner) queueOf(t *model.Task) *queue.Queue {
	if t.Gang == nil || !t.Gang.Known { // pods of a deleted PodGroup are not allocated
		return nil
	}
	return s.Ledger.Of(t.Gang.Queue)
}

// Lookahead is a forecast. It shows the session at a later time, when all tasks that end before that time have ended.
// It changes the overlay and the ledger and must be closed.
type Lookahead struct {
	s       *Planner
	endings []Ending
	next    int // index of the first task that has not ended
	mark    int
	placed  []held // placements made by the forecast itself
	// placedTemplates holds the placements of pods that do not exist yet. They count only on nodes and in queues.
	placedTemplates []held
	// remembers is true if ended pods still count in pod affinity rules.
	remembers bool
}

// held is a placement made by the forecast.
type held struct {
	job *framework.Job
	framework.Placed
}

// startLookahead starts a forecast, in which tasks that are being released have already ended.
func (s *Planner) startLookahead() *Lookahead {
	return s.StartLookaheadFor(s.KnownEndings(), false)
}

// StartLookaheadFor starts a forecast in which the given tasks end, in order. Tasks that end by now have already
// ended in it. If remembers is true, pods that have ended still count in pod affinity rules.
func (s *Planner) StartLookaheadFor(endings []Ending, remembers bool) *Lookahead {
	l := &Lookahead{s: s, endings: endings, mark: s.View.Mark(), remembers: remembers}
	s.BeginForecast()
	l.AdvanceTo(s.Now)
	return l
}

// AdvanceTo ends the tasks that end by a time.
func (l *Lookahead) AdvanceTo(at time.Time) {
	for l.next < len(l.endings) && !l.endings[l.next].At.After(at) {
		l.countAsEnded(&l.endings[l.next], 1)
		l.next++
	}
}

// countAsEnded counts a task as ended (sign 1) or undoes this (sign -1), except on the overlay, which is rolled back
// as a whole.
func (l *Lookahead) countAsEnded(e *Ending, sign float64) {
	l.s.Walked++
	if sign > 0 {
		switch {
		case e.Promised:
			l.s.View.WithdrawPromise(e.Node, e.Task)
		default:
			l.s.View.AssumeEnded(e.Node, e.Task, e.Leaving)
		}
	}
	if e.Queue != nil && !e.Leaving { // leaving tasks no longer count in their queue
		e.Queue.AddAllocated(e.Task.Shape.Request, -sign)
	}
	switch {
	case e.FromTemplate: // no rule has counted it
	case e.Task.Node == model.NoNode: // placed by the forecast itself
		l.s.PodCounts.CountPlaced(e.Task, e.Node, -int(sign))
	case !e.Promised && !l.remembers:
		l.s.NotifyEvicted(e.Task, int(sign))
	}
}

// rewindTo undoes endings until only the first n have ended.
func (l *Lookahead) rewindTo(n, mark int) {
	for l.next > n {
		l.next--
		l.countAsEnded(&l.endings[l.next], -1)
	}
	l.s.View.Rollback(mark)
}

// Close restores the session.
func (l *Lookahead) Close() {
	l.rewindTo(0, l.mark)
	for i := len(l.placed) - 1; i >= 0; i-- {
		l.undoPlacement(&l.placed[i])
	}
	for _, h := range l.placedTemplates {
		h.job.ReleasePlacement(h.Placed)
	}
	l.s.EndForecast()
}

func (l *Lookahead) undoPlacement(h *held) {
	l.s.NotifyPlaced(h.job, h.Task, h.Node, -1)
	l.s.UncountPlacedPod(h.Task, h.Node)
	h.job.ReleasePlacement(h.Placed)
}

// placeMinimum places a gang's minimum if it fits now. If it returns false, nothing has changed.
func (l *Lookahead) placeMinimum(j *framework.Job, limits placement.Limits) ([]framework.Placed, bool) {
	return l.placePreferring(j, limits, nil)
}

// placePreferring is like placeMinimum, but uses the resources found by first before all others; first may be nil.
func (l *Lookahead) placePreferring(j *framework.Job, limits placement.Limits, first placement.Preference) ([]framework.Placed, bool) {
	placed, tried, ok := l.s.TryMinimum(j, limits, first)
	l.s.Looked += tried + 1
	return placed, ok
}

// WouldFit reports whether a gang's minimum fits now.
func (l *Lookahead) WouldFit(j *framework.Job, limits placement.Limits) bool {
	mark := l.s.View.Mark()
	placed, ok := l.placeMinimum(j, limits)
	if ok {
		l.s.UndoPlacements(j, placed, mark)
	}
	return ok
}

// findEarliestStart advances to the earliest time at which a gang fits. It returns false if the gang never fits. It
// searches with doubling steps and then bisects the last step.
func (l *Lookahead) findEarliestStart(j *framework.Job, limits placement.Limits) (time.Time, bool) {
	at := l.s.Now
	if l.next > 0 {
		at = laterTime(at, l.endings[l.next-1].At)
	}
	if l.advanceToCapacity(j) && l.next > 0 {
		at = laterTime(at, l.endings[l.next-1].At)
	}
	if l.WouldFit(j, limits) {
		return at, true
	}
	low, lowMark := l.next, l.s.View.Mark() // the gang does not fit here
	for step := 1; ; step *= 2 {
		if low == len(l.endings) {
			return at, false
		}
		high := min(low+step, len(l.endings))
		l.AdvanceTo(l.endings[high-1].At)
		high = l.next
		if !l.WouldFit(j, limits) {
			low, lowMark = high, l.s.View.Mark()
			continue
		}
		for l.endingsThrough(low) < high { // it fits at high but not at low, with times in between
			middle := l.endingsThrough((low + high) / 2)
			if middle >= high {
				middle = l.endingsThrough(low)
			}
			l.rewindTo(low, lowMark)
			l.AdvanceTo(l.endings[middle-1].At)
			if l.WouldFit(j, limits) {
				high = middle
			} else {
				low, lowMark = l.next, l.s.View.Mark()
			}
		}
		if l.next != high {
			l.rewindTo(min(low, l.next), lowMark)
			l.AdvanceTo(l.endings[high-1].At)
		}
		return l.endings[high-1].At, true
	}
}

// endingsThrough returns the number of endings up to and including the time of ending n.
func (l *Lookahead) endingsThrough(n int) int {
	if n >= len(l.endings) {
		return len(l.endings)
	}
	at := l.endings[n].At
	more, _ := slices.BinarySearchFunc(l.endings[n:], at, func(e Ending, at time.Time) int {
		if e.At.After(at) {
			return 1
		}
		return -1
	})
	return n + more
}

func laterTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// advanceToCapacity advances the forecast until the nodes and the queue have enough free capacity for a gang,
// counting each shape separately. It reports whether this happens. Before that time, the gang cannot fit.
func (l *Lookahead) advanceToCapacity(j *framework.Job) bool {
	shapes := j.PendingShapes()
	counts := make([]*slots, len(shapes))
	enough := func() bool {
		sum := 0
		for _, n := range counts {
			sum += n.sum
		}
		return sum >= j.Need() && l.s.queueMayAllow(j)
	}
	for i, shape := range shapes {
		counts[i] = l.s.slotsLeftFor(j, shape)
	}
	for !enough() {
		if l.next == len(l.endings) {
			return false
		}
		first := l.next
		l.AdvanceTo(l.endings[first].At)
		for i := first; i < l.next; i++ {
			for k, shape := range shapes {
				counts[k].recountNode(l.s, shape, l.endings[i].Node)
			}
		}
	}
	return true
}
