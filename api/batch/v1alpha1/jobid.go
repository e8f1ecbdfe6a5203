package v1alpha1

import (
	"strconv"

	"github.com/vc-batch/vc/api/keys"
)

// JobID returns the number of a job; ok is false if the number is missing or malformed.
func JobID(job *Job) (id int64, ok bool) {
	return ParseJobID(job.Labels[keys.JobID])
}

// ParseJobID parses a job number, which is a decimal number greater than 0. ok is false for any other text.
func ParseJobID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && FormatJobID(id) == text
}

// FormatJobID formats a job number.
func FormatJobID(id int64) string { return strconv.FormatInt(id, 10) }

// IDsOf returns the number of consecutive job numbers that a job needs: one or, for an array, one for each element.
// The first element has the same number as the job.
func IDsOf(job *Job) int {
	text, ok := job.Annotations[keys.Array]
	if !ok {
		return 1
	}
	elements, err := ParseIndices(text)
	if err != nil {
		return 1 // validation rejects it
	}
	return max(1, min(elements.Count(), MaxElements))
}

// SetJobID sets the number of a job.
func SetJobID(job *Job, id int64) {
	if job.Labels == nil {
		job.Labels = map[string]string{}
	}
	job.Labels[keys.JobID] = FormatJobID(id)
}

// JudgedAnnotations lists the job annotations whose changes are validated by admission.
var JudgedAnnotations = []string{keys.Array, keys.ArrayLimit, keys.ArrayCancelled, keys.KeepFinished, keys.Hold, keys.Begin, keys.Dependency, keys.DependencyNamespaces, keys.KillOnInvalidDependency, keys.User}
