package share

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Forest is the queues as they stand under each other. Queues whose parent does not
// exist, or that form a circle, stand at the top.
type Forest struct {
	// Queues are all, by name.
	Queues   map[string]*schedulingv1beta1.Queue
	children map[string][]*schedulingv1beta1.Queue // by parent, by name; "" holds the tops
	loans    map[string][]Loan                     // by the queue that borrows
}

// NewForest plants queues. Nothing of it follows later changes.
func NewForest(queues []*schedulingv1beta1.Queue) *Forest {
	f := &Forest{Queues: map[string]*schedulingv1beta1.Queue{}, children: map[string][]*schedulingv1beta1.Queue{}, loans: map[string][]Loan{}}
	for _, q := range queues {
		f.Queues[q.Name] = q
	}
	for _, q := range queues {
		parent := q.ParentName()
		if f.Queues[parent] == nil || f.circles(q) {
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

// circles says whether a queue is above itself.
func (f *Forest) circles(q *schedulingv1beta1.Queue) bool {
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

// Below are a queue's children, theirs, and so on, in the order of the tree.
func (f *Forest) Below(name string) []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, child := range f.children[name] {
		all = append(append(all, child), f.Below(child.Name)...)
	}
	return all
}

// Sum adds up what is counted in a queue and in those below it.
func (f *Forest) Sum(q *schedulingv1beta1.Queue, count func(*schedulingv1beta1.Queue) int32) int32 {
	total := count(q)
	for _, below := range f.Below(q.Name) {
		total += count(below)
	}
	return total
}

// Inside says whether a queue is one of those named, or below one.
func (f *Forest) Inside(name string, names []string) bool {
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

// Lent are the loans that a queue gave.
func (f *Forest) Lent(name string) []Loan {
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

// Branches are the signs that a tree is drawn with.
type Branches struct{ Fork, Last, Down, None string }

// BranchesFor are lines, or ASCII where there are none.
func BranchesFor(fancy bool) Branches {
	if fancy {
		return Branches{Fork: "├─ ", Last: "└─ ", Down: "│  ", None: "   "}
	}
	return Branches{Fork: "|- ", Last: "`- ", Down: "|  ", None: "   "}
}

// Branch is a queue with what is drawn before its name.
type Branch struct {
	Queue  *schedulingv1beta1.Queue
	Indent string
}

// Draw lists the queues for which shown holds as a tree; what stands between two of them is left out.
func (f *Forest) Draw(shown func(name string) bool, signs Branches) []Branch {
	var rows []Branch
	var walk func(queues []*schedulingv1beta1.Queue, indent string, top bool)
	walk = func(queues []*schedulingv1beta1.Queue, indent string, top bool) {
		queues = f.visible(queues, shown)
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

// visible replaces queues that are not shown by those below them that are.
func (f *Forest) visible(queues []*schedulingv1beta1.Queue, shown func(name string) bool) []*schedulingv1beta1.Queue {
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

// IsRoot says whether a queue is the one that all stand under.
func IsRoot(q *schedulingv1beta1.Queue) bool { return q.Name == keys.RootQueue }

// Children are the queues right below one, by name; those of "" stand at the top.
func (f *Forest) Children(name string) []*schedulingv1beta1.Queue { return f.children[name] }
