package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/jobstatus"
)

// maxEvents is the number of events kept about pods, and of events kept about other objects. The oldest are dropped.
const maxEvents = 500

// FromEvent reduces an event to the fields that are shown.
func FromEvent(e *corev1.Event) *Event {
	one := &Event{
		UID: e.UID, Type: e.Type, Reason: shareText(e.Reason), Message: jobstatus.OneLine(e.Message), Count: jobstatus.EventCount(e),
		Kind: shareText(e.InvolvedObject.Kind), Namespace: shareText(e.InvolvedObject.Namespace), Name: e.InvolvedObject.Name, Of: e.InvolvedObject.UID,
	}
	one.At = jobstatus.EventTime(e).Time
	return one
}

// eventLog holds all events. Events about pods, which are many, have their own ring, so that they do not displace the
// others.
type eventLog struct{ pods, others ring }

// storeEvent stores an event and reports whether it was new or changed.
func (l *eventLog) storeEvent(e *Event) bool {
	if e.Kind == "Pod" {
		return l.pods.storeNewerEvent(e)
	}
	return l.others.storeNewerEvent(e)
}

// newestEvents returns the stored events, the oldest first.
func (l *eventLog) newestEvents() []*Event {
	all := append(l.pods.newestEvents(), l.others.newestEvents()...)
	slices.SortFunc(all, compareByTime)
	return all
}

// ring keeps the newest events.
type ring struct {
	events map[types.UID]*Event
	// floor is the time of the oldest event that was kept when older ones were dropped.
	floor time.Time
}

func (e *Event) hasSameContent(other *Event) bool {
	return e.At.Equal(other.At) && e.Count == other.Count && e.Message == other.Message
}

func (r *ring) storeNewerEvent(e *Event) bool {
	if r.events == nil {
		r.events = map[types.UID]*Event{}
	}
	switch known := r.events[e.UID]; {
	case known == nil && e.At.Before(r.floor):
		return false
	case known != nil && known.hasSameContent(e):
		return false
	}
	r.events[e.UID] = e
	if len(r.events) >= 2*maxEvents {
		r.trimOldest()
	}
	return true
}

// sortedEvents returns all events, the oldest first.
func (r *ring) sortedEvents() []*Event {
	return slices.SortedFunc(maps.Values(r.events), compareByTime)
}

func compareByTime(a, b *Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.UID, b.UID)) }

func (r *ring) newestEvents() []*Event {
	all := r.sortedEvents()
	return all[max(0, len(all)-maxEvents):]
}

func (r *ring) trimOldest() {
	all := r.sortedEvents()
	for _, e := range all[:len(all)-maxEvents] {
		delete(r.events, e.UID)
	}
	r.floor = all[len(all)-maxEvents].At
}
