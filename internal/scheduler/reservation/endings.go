package reservation

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Ending is the end of a task on a node, at the latest time at which it may occur.
type Ending struct {
	At   time.Time
	Task *model.Task
	Node model.NodeID
	// Leaving is true if the task's resources are already being released. Promised is true if the task holds only a
	// promise of resources.
	Leaving, Promised bool
	// FromTemplate is true if the pod does not exist yet. The task then stands for a pod of a template in a forecast.
	FromTemplate bool
	moves        bool // the time is not fixed yet
	// Queue is the queue in which the task counts; nil if it counts in no queue.
	Queue *queue.Queue
}

// EndingLog caches, between cycles, the tasks that end at known times, in order. Only nodes that have changed are
// read again.
type EndingLog struct {
	list       []Ending
	fresh      []Ending
	seen       uint64 // generation of the model
	nodes      uint64 // generation of the set of nodes
	estimates  uint64 // generation of the gangs' estimates
	changed    []bool // by node
	hasChanged []model.NodeID
}

// updateFrom updates the log from the current state of the model.
func (l *EndingLog) updateFrom(s *session.Session) {
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
	isReusable := l.seen != 0 && l.nodes == c.NodeSetGen && l.estimates == c.EstimateGen
	if !isReusable || !c.NodesSince(l.seen, change) {
		for _, id := range s.View.Order {
			change(id)
		}
		l.list = l.list[:0]
	}
	l.seen, l.nodes, l.estimates = c.Gen(), c.NodeSetGen, c.EstimateGen
	for i := range l.list { // endings without a fixed time
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
func (l *EndingLog) collectNode(s *session.Session, id model.NodeID) {
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

func compareEndings(a, b Ending) int {
	return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Task.Namespace, b.Task.Namespace), strings.Compare(a.Task.Name, b.Task.Name))
}
