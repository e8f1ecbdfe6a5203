package plan

import (
	"iter"
	"maps"

	"github.com/vc-batch/vc/api/reason"
)

// limitActive skips the places of elements that may not start now, because they are waiting for other elements or
// because the limit on active elements has been reached. Elements that have started are always completed.
func (b *builder) limitActive(places iter.Seq[Place]) iter.Seq[Place] {
	if b.array == nil {
		return places
	}
	a := b.array
	begun := map[int]bool{}
	for m := range b.census.inRange() {
		if !m.hasFinished() || a.size > 1 {
			begun[a.elementPosition(m.place)] = true
		}
	}
	active := b.activeElements()
	for p := range places {
		if at := a.elementPosition(p); begun[at] {
			active[at] = true // some pods of the element have finished, others have not
		}
	}
	return func(yield func(Place) bool) {
		active := maps.Clone(active)
		for p := range places {
			at := a.elementPosition(p)
			full := a.limit > 0 && len(active) >= int(a.limit)
			if !active[at] && (a.shut[at] || full) {
				continue
			}
			active[at] = true
			if !yield(p) {
				return
			}
		}
	}
}

// activeElements returns the elements with at least one pod that has not ended. It also includes an element with
// several pods if one of its finished pods is being deleted and no result is recorded. That pod will be re-created, so
// the element is still running.
func (b *builder) activeElements() map[int]bool {
	seen := map[int]bool{}
	for m := range b.census.inRange() {
		again := m.gone && b.array.size > 1 && !b.isPlaceSettled(m.place)
		if !m.hasFinished() || again {
			seen[b.array.elementPosition(m.place)] = true
		}
	}
	return seen
}

// elementsWaitReason returns the reason why none of the waiting elements can start. It returns "" if nothing in the job
// itself prevents them from starting.
func (b *builder) elementsWaitReason(waiting []int) reason.Code {
	a := b.array
	open, lost := 0, 0
	for _, p := range waiting {
		switch {
		case a.lost[p]:
			lost++
		case !a.shut[p]:
			open++
		}
	}
	switch {
	case len(waiting) == 0:
		return ""
	case open > 0 && a.limit > 0 && len(b.activeElements()) >= int(a.limit):
		return reason.JobArrayTaskLimit
	case open > 0:
		return ""
	case lost == len(waiting):
		return reason.DependencyNeverSatisfied
	}
	return reason.Dependency
}
