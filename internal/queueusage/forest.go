package queueusage

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Forest holds the queues as trees. A queue whose parent does not exist, or that is part of a cycle, is a root of a
// tree.
type Forest struct {
	// Queues holds all queues by name.
	Queues   map[string]*schedulingv1beta1.Queue
	children map[string][]*schedulingv1beta1.Queue // by parent, sorted by name; "" holds the roots
	loans    map[string][]Loan                     // by borrowing queue
}

// NewForest returns the forest of the given queues. It does not follow later changes of the queues.
func NewForest(queues []*schedulingv1beta1.Queue) *Forest {
	f := &Forest{Queues: map[string]*schedulingv1beta1.Queue{}, children: map[string][]*schedulingv1beta1.Queue{}, loans: map[string][]Loan{}}
	for _, q := range queues {
		f.Queues[q.Name] = q
	}
	for _, q := range queues {
		parent := q.ParentName()
		if f.Queues[parent] == nil || f.isOwnAncestor(q) {
			parent = ""
		}
		f.children[parent] = append(f.children[parent], q)
	}
	for _, siblings := range f.children {
		slices.SortFunc(siblings, func(a, b *schedulingv1beta1.Queue) int { return strings.Compare(a.Name, b.Name) })
		for _, l := range LoansAmong(siblings) {
			f.loans[l.To] = append(f.loans[l.To], l)
		}
	}
	return f
}

// isOwnAncestor reports whether a queue is its own ancestor.
func (f *Forest) isOwnAncestor(q *schedulingv1beta1.Queue) bool {
	at := q
	for range f.Queues {
		at = f.Queues[at.ParentName()]
		if at == nil {
			return false
		}
		if at == q {
			return true
		}
	}
	return false
}

// DescendantsOf returns all descendants of a queue, in the order of the tree.
func (f *Forest) DescendantsOf(name string) []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, child := range f.children[name] {
		all = append(append(all, child), f.DescendantsOf(child.Name)...)
	}
	return all
}

// SumOverTree returns the sum of a count over a queue and its descendants.
func (f *Forest) SumOverTree(q *schedulingv1beta1.Queue, count func(*schedulingv1beta1.Queue) int32) int32 {
	total := count(q)
	for _, below := range f.DescendantsOf(q.Name) {
		total += count(below)
	}
	return total
}

// IsInOrBelowAny reports whether a queue is one of the named queues or a descendant of one.
func (f *Forest) IsInOrBelowAny(name string, names []string) bool {
	for range len(f.Queues) + 1 {
		if slices.Contains(names, name) {
			return true
		}
		q := f.Queues[name]
		if q == nil {
			return false
		}
		name = q.ParentName()
	}
	return false
}

// LoansGivenBy returns the loans that a queue gave.
func (f *Forest) LoansGivenBy(name string) []Loan {
	var all []Loan
	for _, siblings := range f.children {
		for _, q := range siblings {
			for _, l := range f.loans[q.Name] {
				if l.From == name {
					all = append(all, l)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Loan) int { return strings.Compare(a.To+"/"+string(a.Resource), b.To+"/"+string(b.Resource)) })
	return all
}

// Branches holds the characters with which a tree is drawn.
type Branches struct{ Fork, Last, Down, None string }

// BranchCharacters returns line-drawing characters, or ASCII if fancy is false.
func BranchCharacters(fancy bool) Branches {
	if fancy {
		return Branches{Fork: "├─ ", Last: "└─ ", Down: "│  ", None: "   "}
	}
	return Branches{Fork: "|- ", Last: "`- ", Down: "|  ", None: "   "}
}

// Branch is a queue with the characters drawn before its name.
type Branch struct {
	Queue  *schedulingv1beta1.Queue
	Indent string
}

// Draw returns the queues for which shown returns true as a tree. The children of a hidden queue move up to its place.
func (f *Forest) Draw(shown func(name string) bool, signs Branches) []Branch {
	var rows []Branch
	var walk func(queues []*schedulingv1beta1.Queue, indent string, top bool)
	walk = func(queues []*schedulingv1beta1.Queue, indent string, top bool) {
		queues = f.visibleQueues(queues, shown)
		for i, q := range queues {
			own, below := indent+signs.Fork, indent+signs.Down
			if i == len(queues)-1 {
				own, below = indent+signs.Last, indent+signs.None
			}
			if top {
				own, below = "", ""
			}
			rows = append(rows, Branch{Queue: q, Indent: own})
			walk(f.children[q.Name], below, false)
		}
	}
	walk(f.children[""], "", true)
	return rows
}

// visibleQueues replaces hidden queues by their nearest visible descendants.
func (f *Forest) visibleQueues(queues []*schedulingv1beta1.Queue, shown func(name string) bool) []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, q := range queues {
		if shown(q.Name) {
			all = append(all, q)
			continue
		}
		all = append(all, f.visibleQueues(f.children[q.Name], shown)...)
	}
	return all
}

// IsRoot reports whether a queue is the root of the hierarchy.
func IsRoot(q *schedulingv1beta1.Queue) bool { return q.Name == keys.RootQueue }

// Children returns the children of a queue, by name. The children of "" are the roots of all trees.
func (f *Forest) Children(name string) []*schedulingv1beta1.Queue { return f.children[name] }
