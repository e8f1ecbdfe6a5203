package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
)

// arrangeTree sets the parents, children and levels of all queues. The parent of a queue that names none is the root
// queue, if the root queue exists.
func (l *Ledger) arrangeTree() {
	byName := make(map[string]*Queue, len(l.Queues))
	for _, q := range l.Queues {
		if q.Known {
			byName[q.Name] = q
		}
		q.Parent, q.Children, q.Level, q.Fault = nil, nil, 0, ""
	}
	up := make(map[*Queue]*Queue, len(l.Queues))
	for _, q := range l.Queues {
		if q.Known {
			up[q] = l.namedParent(q, byName)
		}
	}
	for _, q := range l.Queues {
		if q.Fault == "" && q.Known {
			q.Fault = describeCycle(q, up)
		}
	}
	l.isolateDescendants(up)
	for _, q := range l.Queues {
		if p := up[q]; p != nil && q.Fault == "" {
			q.Parent = p
			p.Children = append(p.Children, q)
		}
	}
	l.orderTopDown()
}

// namedParent returns the parent that a queue names; nil if there is no such queue. A queue without a named parent
// belongs to the root queue.
func (l *Ledger) namedParent(q *Queue, byName map[string]*Queue) *Queue {
	name := q.Queue.Parent
	switch {
	case q.Name == keys.RootQueue:
		return nil
	case name == "" || name == keys.RootQueue:
		return byName[keys.RootQueue]
	}
	p := byName[name]
	if p == nil {
		q.Fault = fmt.Sprintf("parent queue %s does not exist", name)
	}
	return p
}

// describeCycle describes the cycle of parents that contains a queue; "" if there is no such cycle.
func describeCycle(q *Queue, up map[*Queue]*Queue) string {
	names := []string{q.Name}
	for p := up[q]; p != nil; p = up[p] {
		names = append(names, p.Name)
		if p == q {
			return fmt.Sprintf("the queue's ancestors form a cycle: %s", strings.Join(names, " → "))
		}
		if len(names) > len(up) { // the cycle is further up and does not contain q
			break
		}
	}
	return ""
}

// isolateDescendants marks the descendants of a faulty queue as faulty too, because their limits cannot be determined.
func (l *Ledger) isolateDescendants(up map[*Queue]*Queue) {
	faulty := make(map[*Queue]bool)
	for _, q := range l.Queues {
		faulty[q] = q.Fault != ""
	}
	for _, q := range l.Queues {
		for p := up[q]; p != nil && !faulty[q]; p = up[p] {
			if faulty[p] {
				q.Fault = fmt.Sprintf("ancestor queue %s has a missing or invalid parent: %s", p.Name, p.Fault)
				break
			}
		}
	}
}

// orderTopDown sets the levels and TopDown.
func (l *Ledger) orderTopDown() {
	l.TopDown = l.TopDown[:0]
	for _, q := range l.Queues {
		if q.Parent == nil {
			l.TopDown = append(l.TopDown, q)
		}
	}
	for i := 0; i < len(l.TopDown); i++ {
		q := l.TopDown[i]
		if q.Parent != nil {
			q.Level = q.Parent.Level + 1
		}
		l.TopDown = append(l.TopDown, q.Children...)
	}
}

// IsLeaf reports whether the queue has no children.
func (q *Queue) IsLeaf() bool { return len(q.Children) == 0 }

// IsWithin reports whether q is other or a descendant of other.
func (q *Queue) IsWithin(other *Queue) bool {
	for p := q; p != nil; p = p.Parent {
		if p == other {
			return true
		}
	}
	return false
}

// Path returns the queue and its ancestors, starting at the top.
func (q *Queue) Path() []*Queue {
	var path []*Queue
	for p := q; p != nil; p = p.Parent {
		path = append(path, p)
	}
	slices.Reverse(path)
	return path
}

// Ancestor returns the n-th ancestor, where 1 is the parent; nil if there is no such ancestor.
func (q *Queue) Ancestor(n int) *Queue {
	p := q
	for ; n > 0 && p != nil; n-- {
		p = p.Parent
	}
	return p
}

// DivergingAncestors returns the ancestors of two queues, or the queues themselves, just below their deepest common
// ancestor. The two results are equal if one queue is within the other.
func DivergingAncestors(a, b *Queue) (x, y *Queue) {
	for a.Level > b.Level && a.Parent != nil {
		if a.Parent == b {
			return b, b
		}
		a = a.Parent
	}
	for b.Level > a.Level && b.Parent != nil {
		if b.Parent == a {
			return a, a
		}
		b = b.Parent
	}
	for a != b && a.Parent != b.Parent {
		a, b = a.Parent, b.Parent
	}
	return a, b
}

// CommonLevel returns the level of the deepest queue that contains both queues; -1 if no queue does.
func CommonLevel(a, b *Queue) int {
	x, y := DivergingAncestors(a, b)
	switch {
	case x == y:
		return x.Level
	case x.Parent == nil:
		return -1
	}
	return x.Parent.Level
}
