package plan

import (
	"iter"
	"slices"
	"time"
)

// maxPlaces is the maximum number of places in a plan. A job may request more pods than fit into memory, so no list may
// grow with its replicas: a plan creates the first pods, and the next plan creates more.
const maxPlaces = 5000

// morePodsAfter is the delay of the next plan when a plan creates only a part of the wanted pods.
const morePodsAfter = 50 * time.Millisecond

// holes yields the places of a task that have no pod but need one, in the order of their indices.
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

// firstHoles returns the first places of holes, at most the given number.
func (b *builder) firstHoles(task, most int) []Place {
	return collectFirst(b.holes(task), most)
}

// hasHole reports whether a task has a place that has no pod but needs one.
func (b *builder) hasHole(task int) bool { return len(b.firstHoles(task, 1)) > 0 }

// collectFirst returns the first values of a sequence, at most the given number.
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

// wantedPlaces returns the places without a pod whose task may start, at most maxPlaces. If there are more, it requests
// another plan.
func (b *builder) wantedPlaces() []Place {
	places := collectFirst(b.limited(b.startableHoles()), maxPlaces+1)
	if len(places) > maxPlaces {
		b.again(morePodsAfter)
		places = slices.Clip(places[:maxPlaces])
	}
	return places
}
