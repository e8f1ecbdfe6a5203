package plan

import (
	"iter"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// parseRecord reads the record from the status.
func (b *builder) parseRecord() {
	r := record{kept: make([]batchv1alpha1.Indices, len(b.job.Spec.Tasks))}
	if b.array != nil {
		r.elements = make([]corev1.PodPhase, b.array.elements.Count())
		if states := b.job.Status.Array; states != nil {
			for phase, text := range map[corev1.PodPhase]string{corev1.PodSucceeded: states.Succeeded, corev1.PodFailed: states.Failed} {
				set, _ := batchv1alpha1.ParseIndices(text)
				for at := range b.array.elements.Positions(set) {
					r.elements[at] = phase
				}
			}
		}
	}
	if batchv1alpha1.KeepsFinished(b.job) {
		for name, text := range b.job.Status.Finished {
			if task := b.findTaskIndex(name); task >= 0 {
				r.kept[task], _ = batchv1alpha1.ParseIndices(text)
			}
		}
	}
	b.record = r
}

// recordedResult returns the recorded result of a place, or "".
func (b *builder) recordedResult(p Place) corev1.PodPhase {
	if b.array != nil {
		if at := b.array.elementPosition(p); at < len(b.record.elements) && b.record.elements[at] != "" {
			return b.record.elements[at]
		}
	}
	if p.Task < len(b.record.kept) && b.record.kept[p.Task].Has(p.Index) {
		return corev1.PodSucceeded
	}
	return ""
}

// hasResultRecord reports whether the job has a record; most jobs do not.
func (b *builder) hasResultRecord() bool { return b.array != nil || batchv1alpha1.KeepsFinished(b.job) }

// isPlaceSettled reports whether a place needs no pod, because its work is done or cancelled.
func (b *builder) isPlaceSettled(p Place) bool {
	return b.recordedResult(p) != "" || b.isPlaceCancelled(p)
}

// absent counts the places of a task that have no pod and do not need one.
type absent struct{ succeeded, failed, cancelled int32 }

func (b *builder) countRecorded(task int) absent {
	var n absent
	if !b.hasResultRecord() {
		return n
	}
	for p := range b.recordedPlaces(task) {
		m := b.census.taken[p]
		switch phase := b.recordedResult(p); {
		case m == nil && phase == corev1.PodSucceeded:
			n.succeeded++
		case m == nil && phase == corev1.PodFailed:
			n.failed++
		case phase == "" && b.isPlaceCancelled(p) && !willPodRemain(m):
			n.cancelled++
		}
	}
	return n
}

// willPodRemain reports whether a replica has a pod that is neither gone nor about to be deleted.
func willPodRemain(m *member) bool { return m != nil && !m.gone && !m.stop }

// recordedPlaces returns the places of a task that the record may contain. For an array, these are all places;
// otherwise, they are the places that have succeeded and are kept.
func (b *builder) recordedPlaces(task int) iter.Seq[Place] {
	replicas := b.job.Spec.Tasks[task].Replicas
	return func(yield func(Place) bool) {
		indices := b.record.kept[task]
		if b.array != nil {
			indices = batchv1alpha1.Indices{{First: 0, Last: replicas - 1}}
		}
		for i := range indices.All() {
			if i >= replicas || !yield(Place{task, i}) {
				return
			}
		}
	}
}

// countPlacesWithoutPod adds the places without a pod whose work is done or cancelled to the counters. Finished places
// count as if their pods still existed.
func (b *builder) countPlacesWithoutPod(n *counters) {
	n.cutShort = b.countCutShort()
	for task := range b.job.Spec.Tasks {
		a := b.countRecorded(task)
		n.succeeded += a.succeeded
		n.failed += a.failed
		n.cancelled += a.cancelled
		for phase, many := range map[corev1.PodPhase]int32{corev1.PodSucceeded: a.succeeded, corev1.PodFailed: a.failed} {
			if many == 0 {
				continue
			}
			state := n.tasks[b.job.Spec.Tasks[task].Name]
			if state.Phase == nil {
				state.Phase = map[corev1.PodPhase]int32{}
				n.tasks[b.job.Spec.Tasks[task].Name] = state
			}
			state.Phase[phase] += many
		}
	}
}

// dropStoppedResults removes the recorded results of the places whose pods this plan stops, because they will run
// again.
func (b *builder) dropStoppedResults() {
	if !b.hasResultRecord() {
		return
	}
	again := make([][]int32, len(b.job.Spec.Tasks))
	for _, m := range b.census.members {
		if (!m.stop && !m.stopMark) || m.place.Task < 0 {
			continue
		}
		again[m.place.Task] = append(again[m.place.Task], m.place.Index)
		if b.array != nil && m.inRange {
			b.record.elements[b.array.elementPosition(m.place)] = ""
		}
	}
	for task, indices := range again {
		b.record.kept[task] = b.record.kept[task].Minus(batchv1alpha1.IndicesOf(indices))
	}
}

// dropAllResults removes all recorded results except those that the job keeps, because a restart of the whole job
// repeats everything else.
func (b *builder) dropAllResults() {
	if batchv1alpha1.KeepsFinished(b.job) {
		for at, phase := range b.record.elements {
			if phase == corev1.PodFailed {
				b.record.elements[at] = ""
			}
		}
		return
	}
	clear(b.record.elements)
}

// keepsSucceededPod reports whether a pod must not be stopped, because it has succeeded and the job keeps such pods.
func (b *builder) keepsSucceededPod(m *member) bool {
	return m.podPhaseOf() == corev1.PodSucceeded && batchv1alpha1.KeepsFinished(b.job)
}

// writeRecord updates the record in the status.
func (b *builder) writeRecord(status *batchv1alpha1.JobStatus) {
	status.Array, status.Finished = nil, nil
	if b.array != nil {
		status.Array = b.arrayStatus(status.State.Phase)
	}
	if !batchv1alpha1.KeepsFinished(b.job) {
		return
	}
	ran, well := make([][]int32, len(b.job.Spec.Tasks)), make([][]int32, len(b.job.Spec.Tasks))
	for m := range b.census.inRange() {
		if !m.hasEndedByItself() {
			continue
		}
		ran[m.place.Task] = append(ran[m.place.Task], m.place.Index)
		if m.podPhaseOf() == corev1.PodSucceeded {
			well[m.place.Task] = append(well[m.place.Task], m.place.Index)
		}
	}
	for task := range b.job.Spec.Tasks {
		finished := b.record.kept[task].Minus(batchv1alpha1.IndicesOf(ran[task])).Union(batchv1alpha1.IndicesOf(well[task]))
		if len(finished) == 0 {
			continue
		}
		if status.Finished == nil {
			status.Finished = map[string]string{}
		}
		status.Finished[b.job.Spec.Tasks[task].Name] = finished.String()
	}
}

// isPlaceCancelled reports whether a place belongs to a cancelled element.
func (b *builder) isPlaceCancelled(p Place) bool {
	return b.array != nil && b.array.off[b.array.elementPosition(p)]
}
