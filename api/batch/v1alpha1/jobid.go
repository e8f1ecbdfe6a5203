package v1alpha1

import (
	"strconv"

	"github.com/vc-batch/vc/api/keys"
)

// JobID is the number of a job; ok is false while it has none, or what it has is none.
func JobID(job *Job) (id int64, ok bool) {
	return ParseJobID(job.Labels[keys.JobID])
}

// ParseJobID reads the number of a job as it is written, in decimal and from 1; ok is false for anything else.
func ParseJobID(text string) (id int64, ok bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && FormatJobID(id) == text
}

// FormatJobID writes the number of a job.
func FormatJobID(id int64) string { return strconv.FormatInt(id, 10) }

// IDsOf is how many numbers in a row a job takes: one, and an array one for each of its elements, the first of which is the job's own.
func IDsOf(job *Job) int {
	text, ok := job.Annotations[keys.Array]
	if !ok {
		return 1
	}
	elements, err := ParseIndices(text)
	if err != nil {
		return 1 // validation refuses it
	}
	return max(1, min(elements.Count(), MaxElements))
}

// SetJobID writes the number of a job down.
func SetJobID(job *Job, id int64) {
	if job.Labels == nil {
		job.Labels = map[string]string{}
	}
	job.Labels[keys.JobID] = FormatJobID(id)
}

// JudgedAnnotations are the annotations of a job that admission looks at when they change.
var JudgedAnnotations = []string{keys.Array, keys.ArrayLimit, keys.ArrayCancelled, keys.KeepFinished, keys.Hold, keys.Begin, keys.Dependency, keys.DependencyNamespaces, keys.KillOnInvalidDependency}
