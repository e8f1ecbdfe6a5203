package queue

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// forest is the queues as they stand under each other. Queues whose parent does not
// exist, or that form a circle, stand at the top.
type forest struct {
	queues   map[string]*schedulingv1beta1.Queue
	children map[string][]*schedulingv1beta1.Queue // by parent, by name; "" holds the tops
	loans    map[string][]loan                     // by the queue that borrows
}

// newForest plants queues. Nothing of it follows later changes.
func newForest(queues []*schedulingv1beta1.Queue) *forest {
	f := &forest{queues: map[string]*schedulingv1beta1.Queue{}, children: map[string][]*schedulingv1beta1.Queue{}, loans: map[string][]loan{}}
	for _, q := range queues {
		f.queues[q.Name] = q
	}
	for _, q := range queues {
		parent := q.ParentName()
		if f.queues[parent] == nil || f.circles(q) {
			parent = ""
		}
		f.children[parent] = append(f.children[parent], q)
	}
	for _, siblings := range f.children {
		slices.SortFunc(siblings, func(a, b *schedulingv1beta1.Queue) int { return strings.Compare(a.Name, b.Name) })
		for _, l := range loansAmong(siblings) {
			f.loans[l.to] = append(f.loans[l.to], l)
		}
	}
	return f
}

// circles says whether a queue is above itself.
func (f *forest) circles(q *schedulingv1beta1.Queue) bool {
	at := q
	for range f.queues {
		at = f.queues[at.ParentName()]
		if at == nil {
			return false
		}
		if at == q {
			return true
		}
	}
	return false
}

// below are a queue's children, theirs, and so on, in the order of the tree.
func (f *forest) below(name string) []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, child := range f.children[name] {
		all = append(append(all, child), f.below(child.Name)...)
	}
	return all
}

// sum adds up what is counted in a queue and in those below it.
func (f *forest) sum(q *schedulingv1beta1.Queue, count func(*schedulingv1beta1.Queue) int32) int32 {
	total := count(q)
	for _, below := range f.below(q.Name) {
		total += count(below)
	}
	return total
}

// inside says whether a queue is one of those named, or below one.
func (f *forest) inside(name string, names []string) bool {
	for range len(f.queues) + 1 {
		if slices.Contains(names, name) {
			return true
		}
		q := f.queues[name]
		if q == nil {
			return false
		}
		name = q.ParentName()
	}
	return false
}

// lent are the loans that a queue gave.
func (f *forest) lent(name string) []loan {
	var all []loan
	for _, siblings := range f.children {
		for _, q := range siblings {
			for _, l := range f.loans[q.Name] {
				if l.from == name {
					all = append(all, l)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b loan) int { return strings.Compare(a.to+"/"+string(a.resource), b.to+"/"+string(b.resource)) })
	return all
}

// branches are the signs that a tree is drawn with.
type branches struct{ fork, last, down, none string }

func branchesFor(fancy bool) branches {
	if fancy {
		return branches{fork: "├─ ", last: "└─ ", down: "│  ", none: "   "}
	}
	return branches{fork: "|- ", last: "`- ", down: "|  ", none: "   "}
}

// branch is a queue with what is drawn before its name.
type branch struct {
	queue  *schedulingv1beta1.Queue
	indent string
}

// draw lists the queues for which shown holds as a tree; what stands between two of them is left out.
func (f *forest) draw(shown func(name string) bool, signs branches) []branch {
	var rows []branch
	var walk func(queues []*schedulingv1beta1.Queue, indent string, top bool)
	walk = func(queues []*schedulingv1beta1.Queue, indent string, top bool) {
		queues = f.visible(queues, shown)
		for i, q := range queues {
			own, below := indent+signs.fork, indent+signs.down
			if i == len(queues)-1 {
				own, below = indent+signs.last, indent+signs.none
			}
			if top {
				own, below = "", ""
			}
			rows = append(rows, branch{queue: q, indent: own})
			walk(f.children[q.Name], below, false)
		}
	}
	walk(f.children[""], "", true)
	return rows
}

// visible replaces queues that are not shown by those below them that are.
func (f *forest) visible(queues []*schedulingv1beta1.Queue, shown func(name string) bool) []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, q := range queues {
		if shown(q.Name) {
			all = append(all, q)
			continue
		}
		all = append(all, f.visible(f.children[q.Name], shown)...)
	}
	return all
}

// isRoot says whether a queue is the one that all stand under.
func isRoot(q *schedulingv1beta1.Queue) bool { return q.Name == keys.RootQueue }
