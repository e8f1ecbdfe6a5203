package reservation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// Ending is a task on a node that ends at a known time, at the latest.
type Ending struct {
	At   time.Time
	Task *model.Task
	Node model.NodeID
	// Queue is the queue that the task counts in; nil if there is none.
	Queue *queue.Queue
	// Leaving is true if its resources are already being released, Promised if it holds only a promise of resources.
	Leaving, Promised bool
	moves             bool // the time is not fixed yet
}

// EndingLog caches, between cycles, the tasks that end at known times, in order. Only changed nodes are read again.
type EndingLog struct {
	list       []Ending
	fresh      []Ending
	seen       uint64 // generation of the model
	nodes      uint64 // generation of the set of nodes
	estimates  uint64 // generation of the gangs' estimates
	changed    []bool // by node
	hasChanged []model.NodeID
}

// updateFrom updates the log from the model at a time.
func (l *EndingLog) updateFrom(s *Planner) {
	c := s.Cluster
	if len(l.changed) < c.Nodes.Len() {
		l.changed = make([]bool, c.Nodes.Len())
	}
	change := func(id model.NodeID) {
		if !l.changed[id] {
			l.changed[id] = true
			l.hasChanged = append(l.hasChanged, id)
		}
	}
	if l.seen == 0 || l.nodes != c.NodeSetGen || l.estimates != c.EstimateGen || !c.NodesSince(l.seen, change) {
		for _, id := range s.View.Order {
			change(id)
		}
		l.list = l.list[:0]
	}
	l.seen, l.nodes, l.estimates = c.Gen(), c.NodeSetGen, c.EstimateGen
	for i := range l.list { // endings whose time is not fixed
		if e := &l.list[i]; e.moves || !e.At.After(s.Now) {
			change(e.Node)
		}
	}
	l.fresh = l.fresh[:0]
	for _, id := range l.hasChanged {
		if s.View.Rank[id] >= 0 {
			l.collectNode(s, id)
		}
	}
	slices.SortFunc(l.fresh, compareEndings)
	l.mergeFresh()
	for _, id := range l.hasChanged {
		l.changed[id] = false
	}
	l.hasChanged = l.hasChanged[:0]
}

// collectNode reads the tasks of one node.
func (l *EndingLog) collectNode(s *Planner, id model.NodeID) {
	for _, t := range s.View.Nodes.Tasks[id] {
		e := Ending{At: s.Now, Task: t, Node: id}
		switch {
		case t.Status == model.Releasing:
			e.Leaving, e.moves = true, true
		case t.Status == model.Lingering: // its end is unknown
			continue
		default:
			at, known := t.LatestEndTime(s.Now)
			if !known {
				continue
			}
			e.At, e.Promised = at, t.Status == model.Pipelined
			e.moves = t.Started.IsZero() || t.Started.After(s.Now)
		}
		l.fresh = append(l.fresh, e)
	}
}

// mergeFresh inserts the collected endings.
func (l *EndingLog) mergeFresh() {
	kept := l.list[:0]
	for i := range l.list {
		if !l.changed[l.list[i].Node] {
			kept = append(kept, l.list[i])
		}
	}
	n, m := len(kept), len(l.fresh)
	kept = slices.Grow(kept, m)[:n+m]
	for at := n + m - 1; m > 0; at-- {
		if n > 0 && compareEndings(kept[n-1], l.fresh[m-1]) > 0 {
			kept[at] = kept[n-1]
			n--
		} else {
			kept[at] = l.fresh[m-1]
			m--
		}
	}
	l.list = kept
}

// KnownEndings returns the tasks that end at known times, in order. Tasks placed in this cycle start now; evicted ones
// leave. The list is computed once per cycle and again after changes of the overlay.
func (s *Planner) KnownEndings() []Ending {
	if s.endings != nil && s.endingsAt == s.View.Mark() {
		return s.endings
	}
	if s.EndingLog == nil {
		s.EndingLog = &EndingLog{}
	}
	if !s.endingsKnown {
		s.EndingLog.updateFrom(s)
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

func compareEndings(a, b Ending) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Task.Namespace, b.Task.Namespace), strings.Compare(a.Task.Name, b.Task.Name))
}

// Lookahead is a forecast: the session at a later time, when all tasks that end before it have ended. It changes
// the overlay and the ledger and must be closed.
type Lookahead struct {
	s       *Planner
	endings []Ending
	next    int // index of the first task that has not ended
	mark    int
	placed  []held // placed by the forecast itself
	// remembers is true if ended pods still count in pod affinity rules.
	remembers bool
}

// held is a placement of the forecast.
type held struct {
	job *framework.Job
	framework.Placed
}

// startLookahead starts a forecast. Tasks that are being released have ended in it.
func (s *Planner) startLookahead() *Lookahead {
	return s.StartLookaheadFor(s.KnownEndings(), false)
}

// StartLookaheadFor starts a forecast in which the given tasks end, in order. The ones that end by now have ended in
// it. If remembers is true, ended pods still count in pod affinity rules.
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

// countAsEnded counts a task as ended, or undoes this (-1) except on the overlay, which is rolled back as a whole.
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
	case e.Task.Node == model.NoNode: // placed by the forecast itself
		l.s.Neighbours.CountPlaced(e.Task, e.Node, -int(sign))
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
	l.s.EndForecast()
}

func (l *Lookahead) undoPlacement(h *held) {
	l.s.NotifyPlaced(h.job, h.Task, h.Node, -1)
	l.s.UncountPlacedPod(h.Task, h.Node)
	h.job.ReleasePlacement(h.Placed)
}

// placeMinimum places a gang's minimum if it fits now. If it returns false, nothing changed.
func (l *Lookahead) placeMinimum(j *framework.Job, limits placement.Limits) ([]framework.Placed, bool) {
	return l.placePreferring(j, limits, nil)
}

// placePreferring is placeMinimum with some resources to be used before all others; nil for none.
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

// findEarliestStart advances to the earliest time at which a gang fits; false if it never fits. It searches with
// doubling steps and then bisects the last step.
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
		for l.endingsThrough(low) < high { // it fits at high but not at low, and there are times in between
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
