package v1beta1

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
)

// QueueLookup is what validation wants to know of the queues that there are.
//
// +kubebuilder:object:generate=false
type QueueLookup interface {
	// Queue gives the queue of that name; callers do not change it.
	Queue(name string) (*Queue, bool)
	// Children gives the names of the queues whose parent is name, sorted.
	Children(name string) []string
	// Queues gives all, in any order.
	Queues() []*Queue
}

// queueSet is a QueueLookup over a list.
//
// +kubebuilder:object:generate=false
type queueSet map[string]*Queue

// NewQueueLookup makes a QueueLookup of these queues.
func NewQueueLookup(queues ...*Queue) QueueLookup {
	set := make(queueSet, len(queues))
	for _, q := range queues {
		set[q.Name] = q
	}
	return set
}

func (s queueSet) Queue(name string) (*Queue, bool) {
	q, ok := s[name]
	return q, ok
}

func (s queueSet) Children(name string) []string {
	var children []string
	for _, q := range s {
		if q.Name != name && q.ParentName() == name {
			children = append(children, q.Name)
		}
	}
	slices.Sort(children)
	return children
}

func (s queueSet) Queues() []*Queue {
	queues := make([]*Queue, 0, len(s))
	for _, q := range s {
		queues = append(queues, q)
	}
	slices.SortFunc(queues, func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
	return queues
}

// ParentName is the queue's parent: root when none is named, empty for root itself.
func (q *Queue) ParentName() string {
	switch {
	case q.Name == keys.RootQueue:
		return ""
	case q.Spec.Parent == "":
		return keys.RootQueue
	default:
		return q.Spec.Parent
	}
}

// IsOpen says whether the queue takes jobs. A queue that no controller has seen yet is open.
func (q *Queue) IsOpen() bool {
	return q.Status.State == QueueStateOpen || q.Status.State == ""
}

// OpenQueueNames lists the open leaves among queues, sorted and at most limit of them, for messages.
func OpenQueueNames(queues QueueLookup, limit int) []string {
	var names []string
	for _, q := range queues.Queues() {
		if q.IsOpen() && q.Name != keys.RootQueue && len(queues.Children(q.Name)) == 0 {
			names = append(names, q.Name)
		}
	}
	slices.Sort(names)
	return names[:min(len(names), limit)]
}
