package snapshot

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/account"
)

// maxEvents is how many events are kept of those about pods, and of the others; the oldest give way.
const maxEvents = 500

// FromEvent keeps of an event what is shown of it.
func FromEvent(e *corev1.Event) *Event {
	one := &Event{
		UID: e.UID, Type: e.Type, Reason: same(e.Reason), Message: account.OneLine(e.Message), Count: account.EventCount(e),
		Kind: same(e.InvolvedObject.Kind), Namespace: same(e.InvolvedObject.Namespace), Name: e.InvolvedObject.Name, Of: e.InvolvedObject.UID,
	}
	one.At = account.EventTime(e).Time
	return one
}

// told is what was told. What is told of pods, of which there are many, does not push out the rest.
type told struct{ pods, others ring }

// add says whether it was not known yet.
func (t *told) add(e *Event) bool {
	if e.Kind == "Pod" {
		return t.pods.add(e)
	}
	return t.others.add(e)
}

// newest are those that are kept, the oldest first.
func (t *told) newest() []*Event {
	all := append(t.pods.newest(), t.others.newest()...)
	slices.SortFunc(all, inTime)
	return all
}

// ring keeps the newest events.
type ring struct {
	events map[types.UID]*Event
	// floor is when the oldest was told that was kept when others gave way.
	floor time.Time
}

func (r *ring) add(e *Event) bool {
	if r.events == nil {
		r.events = map[types.UID]*Event{}
	}
	known := r.events[e.UID]
	if known == nil && e.At.Before(r.floor) || known != nil && known.At.Equal(e.At) && known.Count == e.Count && known.Message == e.Message {
		return false
	}
	r.events[e.UID] = e
	if len(r.events) >= 2*maxEvents {
		r.trim()
	}
	return true
}

// sorted is all of it, the oldest first.
func (r *ring) sorted() []*Event {
	all := make([]*Event, 0, len(r.events))
	for _, e := range r.events {
		all = append(all, e)
	}
	slices.SortFunc(all, inTime)
	return all
}

func inTime(a, b *Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.UID, b.UID)) }

func (r *ring) newest() []*Event {
	all := r.sorted()
	return all[max(0, len(all)-maxEvents):]
}

func (r *ring) trim() {
	all := r.sorted()
	for _, e := range all[:len(all)-maxEvents] {
		delete(r.events, e.UID)
	}
	r.floor = all[len(all)-maxEvents].At
}
