package v1alpha1

import "github.com/vc-batch/vc/api/keys"

// ElementsOf gives the elements of an array, in the order in which its pods are numbered, and how many pods each has. ok is false for a job that is no
// array, or not a valid one.
func ElementsOf(job *Job) (elements Indices, size int32, ok bool) {
	text := job.Annotations[keys.Array]
	if text == "" || len(job.Spec.Tasks) != 1 {
		return nil, 0, false
	}
	elements, err := ParseIndices(text)
	if err != nil || len(elements) == 0 {
		return nil, 0, false
	}
	size = 1
	if p := job.Spec.Tasks[0].PartitionPolicy; p != nil && p.PartitionSize > 0 {
		size = p.PartitionSize
	}
	return elements, size, true
}
