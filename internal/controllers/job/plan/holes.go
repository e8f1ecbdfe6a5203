package plan

import (
	"iter"
	"slices"
	"time"
)

// maxPlaces is the maximum number of places in a plan. A job may request more pods than fit into memory, so the size
// of a list must never grow with the number of replicas. A plan creates the first pods, and the next plan creates
// more.
const maxPlaces = 5000

// morePodsAfter is the delay before the next plan if a plan creates only some of the wanted pods.
const morePodsAfter = 50 * time.Millisecond

// missingPlaces returns the places of a task that lack a pod, in the order of their indices.
func (b *builder) missingPlaces(task int) iter.Seq[Place] {
	return b.missingBetween(task, 0, b.job.Spec.Tasks[task].Replicas)
}

// missingBetween returns the places of a task with indices from first up to, but without, end that lack a pod.
func (b *builder) missingBetween(task int, first, end int32) iter.Seq[Place] {
	return func(yield func(Place) bool) {
		for i := first; i < end; i++ {
			p := Place{task, i}
			if b.census.taken[p] == nil && !b.isPlaceSettled(p) && !yield(p) {
				return
			}
		}
	}
}

// firstMissingPlaces returns the first places of a task that lack a pod, up to the given number.
func (b *builder) firstMissingPlaces(task, most int) []Place {
	return collectFirst(b.missingPlaces(task), most)
}

// hasMissingPod reports whether a task has a place that lacks a pod.
func (b *builder) hasMissingPod(task int) bool { return len(b.firstMissingPlaces(task, 1)) > 0 }

// collectFirst returns the first values of a sequence, up to the given number.
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

// startableMissing returns the places that lack a pod in all tasks whose dependencies are met. The places that the
// minimums of tasks need come first; needed is the result of countNeeded.
func (b *builder) startableMissing(needed []int32) iter.Seq[Place] {
	var tasks []int
	for task := range b.job.Spec.Tasks {
		if b.dependenciesMet(task) {
			tasks = append(tasks, task)
		}
	}
	return func(yield func(Place) bool) {
		for _, isNeeded := range []bool{true, false} {
			for _, task := range tasks {
				first, end := int32(0), needed[task]
				if !isNeeded {
					first, end = end, b.job.Spec.Tasks[task].Replicas
				}
				for p := range b.missingBetween(task, first, end) {
					if !yield(p) {
						return
					}
				}
			}
		}
	}
}

// countNeeded returns, for each task, the number of first places that its minimum needs. A failed pod keeps its place but does
// not count for the minimum. The result is all zeros if the job may start with any of its pods, or has only one task.
func (b *builder) countNeeded() []int32 {
	needed := make([]int32, len(b.job.Spec.Tasks))
	if len(needed) == 1 || b.job.Spec.MinAvailable < taskMinimums(b.job) {
		return needed
	}
	copy(needed, b.failedByTask())
	for i := range needed {
		t := &b.job.Spec.Tasks[i]
		needed[i] = min(needed[i]+taskMinimum(t), t.Replicas)
	}
	return needed
}

// createPodsAt creates pods for these places, which are in the order of wantedPlaces. The pods that the minimums of tasks need
// are created before the others. Otherwise, the others could use up a quota, and then the job would never start. For the
// same reason, the others wait while a needed pod is being deleted. It reports whether it creates any pods.
func (b *builder) createPodsAt(places []Place, needed []int32) (creates bool) {
	first := 0
	for first < len(places) && places[first].Index < needed[places[first].Task] {
		first++
	}
	others := places[first:]
	if len(others) > 0 && slices.Max(needed) > 0 {
		switch {
		case b.isMinimumBeingDeleted(needed):
			others = nil // the end of the deleted pod causes the next plan
		case b.isInputOutdated():
			b.plan.Refresh = true // needed pods may have been deleted since the list was read
		}
	}
	for _, part := range [][]Place{places[:first], others} {
		if len(part) > 0 {
			b.appendWrites(CreatePods{Places: part})
			creates = true
		}
	}
	return creates
}

// isMinimumBeingDeleted reports whether a task will fall below its minimum because needed pods are being deleted. Their
// replacements have the same names, so they cannot be created earlier.
func (b *builder) isMinimumBeingDeleted(needed []int32) bool {
	lacking := make([]int, len(needed))
	for m := range b.census.inRange() {
		isNeeded := m.place.Index < needed[m.place.Task]
		isReplacedLater := (m.gone || m.stop) && !b.isPlaceSettled(m.place)
		switch {
		case isNeeded && isReplacedLater:
			lacking[m.place.Task]++
		case !isNeeded && m.isLivePod() && !m.stop:
			lacking[m.place.Task]--
		}
	}
	return slices.ContainsFunc(lacking, func(n int) bool { return n > 0 })
}

// wantedPlaces returns up to maxPlaces places that have no pod and whose task may start. more reports whether there are
// more such places.
func (b *builder) wantedPlaces(needed []int32) (places []Place, more bool) {
	places = collectFirst(b.limitActive(b.startableMissing(needed)), maxPlaces+1)
	if len(places) > maxPlaces {
		return slices.Clip(places[:maxPlaces]), true
	}
	return places, false
}
