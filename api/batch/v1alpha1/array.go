package v1alpha1

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/vc-batch/vc/api/keys"
)

// ElementsOf returns the elements of an array, in the order in which its pods are numbered, and the number of pods
// per element. ok is false if the job is not a valid array.
func ElementsOf(job *Job) (elements Indices, size int32, ok bool) {
	text := job.Annotations[keys.Array]
	if text == "" || len(job.Spec.Tasks) != 1 {
		return nil, 0, false
	}
	elements, err := ParseIndices(text)
	if err != nil || len(elements) == 0 || elements.Count() > MaxElements {
		return nil, 0, false
	}
	return elements, elementSize(&job.Spec.Tasks[0]), true
}

// elementSize returns the number of pods per element of an array: a partition, or one pod.
func elementSize(task *TaskSpec) int32 {
	if p := task.PartitionPolicy; p != nil && p.PartitionSize > 0 {
		return p.PartitionSize
	}
	return 1
}

// ArrayLimit returns the maximum number of active elements of an array; 0 means no limit.
func ArrayLimit(job *Job) (int32, error) {
	text := job.Annotations[keys.ArrayLimit]
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a valid limit: use a whole number of array tasks; 0 means no limit", text)
	}
	return int32(n), nil
}

// ArrayCancelled returns the cancelled elements of an array.
func ArrayCancelled(job *Job) (Indices, error) {
	return ParseIndices(job.Annotations[keys.ArrayCancelled])
}

// ArrayCancelledBy maps users to the elements that they cancelled, as far as this was recorded and can be read.
func ArrayCancelledBy(job *Job) map[string]Indices {
	texts := map[string]string{}
	if err := json.Unmarshal([]byte(job.Annotations[keys.ArrayCancelledBy]), &texts); err != nil {
		return nil
	}
	by := make(map[string]Indices, len(texts))
	for user, text := range texts {
		if set, err := ParseIndices(text); err == nil {
			by[user] = set
		}
	}
	return by
}

// KeepsFinished reports whether succeeded pods of a job are never run again.
func KeepsFinished(job *Job) bool { return job.Annotations[keys.KeepFinished] == "true" }

// WaitingElements returns the elements of an array that have not ended and have no pods.
func WaitingElements(job *Job) Indices {
	elements, _, ok := ElementsOf(job)
	if !ok {
		return nil
	}
	if s := job.Status.Array; s != nil {
		for _, text := range []string{s.Running, s.Succeeded, s.Failed, s.Cancelled} {
			if set, err := ParseIndices(text); err == nil {
				elements = elements.Minus(set)
			}
		}
	}
	return elements
}

// defaultArray derives the number of replicas from the elements, and permits each element to start without the
// others.
func defaultArray(job *Job) {
	elements, size, ok := ElementsOf(job)
	if !ok {
		return
	}
	task := &job.Spec.Tasks[0]
	if n := elements.Count(); task.Replicas == 0 && n <= MaxElements {
		task.Replicas = int32(n) * size
	}
	if p := task.PartitionPolicy; p != nil && p.MinPartitions == 0 && task.MinAvailable == nil {
		p.MinPartitions = 1
	}
	if task.MinAvailable == nil {
		task.MinAvailable = new(min(size, task.Replicas))
	}
}
