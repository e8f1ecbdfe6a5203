package v1beta1

import (
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
)

// QueueLookup provides access to the existing queues during validation.
//
// +kubebuilder:object:generate=false
type QueueLookup interface {
	// Queue returns the queue with this name. Callers must not modify it.
	Queue(name string) (*Queue, bool)
	// Children returns the sorted names of a queue's children.
	Children(name string) []string
	// Queues returns all queues in any order.
	Queues() []*Queue
}

// queueSet implements QueueLookup with a map of queues.
//
// +kubebuilder:object:generate=false
type queueSet map[string]*Queue

// NewQueueLookup returns a QueueLookup for the queues.
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
	return slices.SortedFunc(maps.Values(s), func(a, b *Queue) int { return strings.Compare(a.Name, b.Name) })
}

// ParentName returns the name of the queue's parent. The default is root; root itself has no parent, so the result is
// "".
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

// IsOpen reports whether the queue accepts jobs. A queue without a state is open.
func (q *Queue) IsOpen() bool {
	return q.Status.State == QueueStateOpen || q.Status.State == ""
}

// OpenQueueNames returns the names of at most limit open leaf queues, sorted, for use in messages.
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
