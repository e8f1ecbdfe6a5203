package plan

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// ArrayIndexVariable is the environment variable with the index of the array element that a pod belongs to.
const ArrayIndexVariable = "VC_ARRAY_INDEX"

// Array holds the elements of an array job, as read from its annotations. An element is identified by its position in
// the list of elements. The pods of the element at position p have the indices p·size to p·size+size-1 within the
// only task.
type Array struct {
	elements batchv1alpha1.Indices
	size     int32
	limit    int32 // maximum number of active elements; 0 means no limit
	// off holds the positions of cancelled elements, shut the positions of elements that wait for others, and lost
	// the positions of elements whose dependency can never be met.
	off, shut, lost map[int]bool
}

// parseArray returns the array of a job; nil if the job is not an array. Admission has rejected invalid annotations;
// those that exist anyway count as missing.
func parseArray(in *Input, job *batchv1alpha1.Job) *Array {
	elements, size, ok := batchv1alpha1.ElementsOf(job)
	if !ok {
		return nil
	}
	a := &Array{elements: elements, size: size, off: map[int]bool{}, shut: map[int]bool{}, lost: map[int]bool{}}
	a.limit, _ = batchv1alpha1.ArrayLimit(job)
	cancelled, _ := batchv1alpha1.ArrayCancelled(job)
	for p := range elements.Positions(cancelled) {
		a.off[p] = true
	}
	a.addCorresponding(in, job)
	return a
}

// addCorresponding adds to shut the elements that wait for elements with the same index in other arrays.
func (a *Array) addCorresponding(in *Input, job *batchv1alpha1.Job) {
	d, err := batchv1alpha1.DependencyOf(job)
	if err != nil || d.Any {
		return // one met dependency is enough, so the gate decides for all elements at once
	}
	around := indexRelatives(in.Related)
	for _, term := range d.Terms {
		if term.Kind != batchv1alpha1.AfterCorr || term.Job.HasElement {
			continue
		}
		target := around.findReferenced(term.Job)
		if target != nil && target.Status.Array == nil && hasEndedForGood(target.Status.State.Phase) {
			continue // the other job is not an array, so the gate has already evaluated it
		}
		open := map[int]bool{}
		failed := batchv1alpha1.Indices(nil)
		if target != nil && target.Status.Array != nil {
			states := target.Status.Array
			succeeded, _ := batchv1alpha1.ParseIndices(states.Succeeded)
			for p := range a.elements.Positions(succeeded) {
				open[p] = true
			}
			for _, text := range []string{states.Failed, states.Cancelled} {
				set, _ := batchv1alpha1.ParseIndices(text)
				failed = failed.Union(set)
			}
		}
		over := term.Job.ID > 0 // a numbered job that is gone has ended
		if target != nil {
			over = hasEndedForGood(target.Status.State.Phase)
		}
		for p := range a.elements.Count() {
			a.shut[p] = a.shut[p] || !open[p]
			a.lost[p] = a.lost[p] || !open[p] && over
		}
		for p := range a.elements.Positions(failed) {
			a.lost[p] = true
		}
	}
	if job.Annotations[keys.KillOnInvalidDependency] == "true" {
		for p, lost := range a.lost {
			a.off[p] = a.off[p] || lost
		}
	}
}

// elementPosition returns the position of the element to which a place belongs.
func (a *Array) elementPosition(p Place) int { return int(p.Index / a.size) }

// LabelElementPod labels a pod with the array element that it belongs to. It does nothing if a is nil.
func (a *Array) LabelElementPod(pod *corev1.Pod, job *batchv1alpha1.Job, place Place) {
	if a == nil {
		return
	}
	at := a.elementPosition(place)
	element, ok := a.elements.At(at)
	if !ok {
		return
	}
	index := strconv.Itoa(int(element))
	pod.Labels[keys.ArrayIndex] = index
	if id, ok := batchv1alpha1.JobID(job); ok {
		pod.Annotations[keys.ElementID] = batchv1alpha1.FormatJobID(id + int64(at))
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			containers[i].Env = append(containers[i].Env, corev1.EnvVar{Name: ArrayIndexVariable, Value: index})
		}
	}
}
