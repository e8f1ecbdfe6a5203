package plan

import (
	"iter"
	"slices"
	"time"
)

// maxPlaces is how many places a plan lists at most. A job may ask for more pods than memory has room for, so no list may grow with its replicas:
// a plan makes the first pods, and the next plan makes the next ones.
const maxPlaces = 5000

// morePodsAfter is when to plan again after a plan that does not make all pods that are wanted.
const morePodsAfter = 50 * time.Millisecond

// holes yields the places of a task without a pod at which something is to be run, the lowest index first.
func (b *builder) holes(task int) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := range b.job.Spec.Tasks[task].Replicas {
			p := Place{task, i}
			if b.census.taken[p] == nil && !b.settled(p) && !yield(p) {
				return
			}
		}
	}
}

// firstHoles lists the first places of holes, at most that many.
func (b *builder) firstHoles(task, most int) []Place {
	return collectFirst(b.holes(task), most)
}

// hasHole reports whether a task has a place without a pod at which something is to be run.
func (b *builder) hasHole(task int) bool { return len(b.firstHoles(task, 1)) > 0 }

// collectFirst lists the first values of a sequence, at most that many.
func collectFirst(places iter.Seq[Place], most int) []Place {
	var list []Place
	for p := range places {
		if len(list) == most {
			break
		}
		list = append(list, p)
	}
	return list
}

// startableHoles yields the holes of all tasks whose dependencies are met.
func (b *builder) startableHoles() iter.Seq[Place] {
	var tasks []int
	for task := range b.job.Spec.Tasks {
		if b.dependenciesMet(task) {
			tasks = append(tasks, task)
		}
	}
	return func(yield func(Place) bool) {
		for _, task := range tasks {
			for p := range b.holes(task) {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// wantedPlaces lists the places without a pod whose task may start: as many as one plan makes. It asks for another plan when there are more.
func (b *builder) wantedPlaces() []Place {
	places := collectFirst(b.limited(b.startableHoles()), maxPlaces+1)
	if len(places) > maxPlaces {
		b.again(morePodsAfter)
		places = slices.Clip(places[:maxPlaces])
	}
	return places
}
