package plan

import (
	"maps"
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
	// off holds the positions of cancelled elements, shut the positions of elements that are waiting for others, and
	// lost the positions of elements whose dependency can never be met.
	off, shut, lost map[int]bool
}

// parseArray returns the array of a job, or nil if the job is not an array. Admission rejects invalid annotations, so
// an invalid annotation that exists anyway is treated as missing.
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

// addCorresponding adds the elements that are waiting for elements with the same index in other arrays to shut.
func (a *Array) addCorresponding(in *Input, job *batchv1alpha1.Job) {
	d, err := batchv1alpha1.DependencyOf(job)
	if err != nil || d.Any {
		return // one met dependency is enough, so the gate decides for all elements at once
	}
	around := indexRelatives(in.Related)
	for _, term := range d.Terms {
		if term.Kind == batchv1alpha1.AfterCorr && !term.Job.HasElement {
			a.addTerm(term, around.findReferenced(term.Job))
		}
	}
	if job.Annotations[keys.KillOnInvalidDependency] == "true" {
		for p := range a.lost {
			a.off[p] = true
		}
	}
}

// addTerm adds the elements that are waiting for the corresponding elements of target, the job that a term names.
// target is nil if the job does not exist.
func (a *Array) addTerm(term batchv1alpha1.DependencyTerm, target *batchv1alpha1.Job) {
	if target == nil {
		isGone := term.Job.ID > 0 // the job has a number, so it existed and has ended
		a.awaitElements(&batchv1alpha1.ArrayStatus{}, isGone)
		return
	}
	hasEnded := hasEndedForGood(target.Status.State.Phase)
	switch {
	case target.Status.Array != nil:
		a.awaitElements(target.Status.Array, hasEnded)
	case !hasEnded:
		a.awaitElements(&batchv1alpha1.ArrayStatus{}, false)
	default: // the other job is not an array, so the gate has already evaluated it
	}
}

// awaitElements adds the elements whose counterpart in another array has not succeeded to shut. If the counterpart can
// no longer succeed, it also adds the element to lost.
func (a *Array) awaitElements(others *batchv1alpha1.ArrayStatus, hasEnded bool) {
	succeeded := a.elementsIn(others.Succeeded)
	for p := range a.elements.Count() {
		if succeeded[p] {
			continue
		}
		a.shut[p] = true
		if hasEnded {
			a.lost[p] = true
		}
	}
	maps.Copy(a.lost, a.elementsIn(others.Failed))
	maps.Copy(a.lost, a.elementsIn(others.Cancelled))
}

// elementsIn returns the positions of the elements whose indices are listed in a status.
func (a *Array) elementsIn(text string) map[int]bool {
	indices, _ := batchv1alpha1.ParseIndices(text)
	positions := map[int]bool{}
	for p := range a.elements.Positions(indices) {
		positions[p] = true
	}
	return positions
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
