package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// validateArray checks the annotations of an array; at is the path of the job.
func validateArray(job *Job, at *field.Path) field.ErrorList {
	annotations := at.Child("metadata", "annotations")
	var errs field.ErrorList
	invalid := func(key, text string) {
		errs = append(errs, field.Invalid(annotations.Key(key), job.Annotations[key], text))
	}
	if keep := job.Annotations[keys.KeepFinished]; keep != "" && keep != "true" && keep != "false" {
		errs = append(errs, field.NotSupported(annotations.Key(keys.KeepFinished), keep, []string{"true", "false"}))
	}
	text, isArray := job.Annotations[keys.Array]
	if _, err := ArrayLimit(job); err != nil {
		invalid(keys.ArrayLimit, err.Error())
	}
	cancelled, err := ArrayCancelled(job)
	if err != nil {
		invalid(keys.ArrayCancelled, err.Error())
	}
	if !isArray {
		for _, key := range []string{keys.ArrayLimit, keys.ArrayCancelled} {
			if job.Annotations[key] != "" {
				invalid(key, "the job is not an array; to define an array, list the task indices in "+keys.Array)
			}
		}
		return errs
	}
	elements, err := ParseIndices(text)
	switch n := elements.Count(); {
	case err != nil:
		invalid(keys.Array, err.Error())
	case n == 0:
		invalid(keys.Array, "an array must have at least one task: list the task indices, for example 0-15 or 0,4,8-12")
	case n > MaxElements:
		invalid(keys.Array, fmt.Sprintf("the array has %d tasks, but the maximum is %d", n, MaxElements))
	default:
		if unknown := cancelled.Minus(elements); len(unknown) > 0 {
			invalid(keys.ArrayCancelled, fmt.Sprintf("%s: the array has no tasks with these indices; the valid indices are %s", unknown, elements))
		}
		errs = append(errs, validateElements(job, int32(n), at.Child("spec"))...)
	}
	return errs
}

// validateElements checks that there is one task with as many pods, or partitions, as elements.
func validateElements(job *Job, n int32, spec *field.Path) field.ErrorList {
	tasks := spec.Child("tasks")
	if len(job.Spec.Tasks) != 1 {
		return field.ErrorList{field.Invalid(tasks, len(job.Spec.Tasks), fmt.Sprintf(
			"an array (%s) must have exactly one entry in spec.tasks: use partitionPolicy for several pods per array task, or create several jobs", keys.Array))}
	}
	task := &job.Spec.Tasks[0]
	size := int64(elementSize(task))
	if want := int64(n) * size; int64(task.Replicas) != want {
		return field.ErrorList{field.Invalid(tasks.Index(0).Child("replicas"), task.Replicas, fmt.Sprintf(
			"the array has %d tasks (pods per task: %d): remove replicas, or set it to %d", n, size, want))}
	}
	limit, err := ArrayLimit(job)
	if most := int64(limit) * size; err == nil && limit > 0 && int64(job.Spec.MinAvailable) > most {
		return field.ErrorList{field.Invalid(spec.Child("minAvailable"), job.Spec.MinAvailable, fmt.Sprintf(
			"%s allows %d array tasks (%d pods) to run at the same time, so the job could never start: lower minAvailable to %d, or raise the limit",
			keys.ArrayLimit, limit, most, most))}
	}
	return nil
}

// arrayChanged reports whether an annotation of an array has changed.
func arrayChanged(old, updated *Job) bool {
	return annotationsDiffer(old, updated, keys.Array, keys.ArrayLimit, keys.ArrayCancelled, keys.KeepFinished)
}

// annotationsDiffer reports whether one of the annotations with these keys has changed.
func annotationsDiffer(old, updated *Job, annotations ...string) bool {
	return slices.ContainsFunc(annotations, func(key string) bool { return old.Annotations[key] != updated.Annotations[key] })
}

// validateSameElements checks that an array keeps its elements.
func validateSameElements(old, updated *Job, annotations *field.Path) field.ErrorList {
	was, is := old.Annotations[keys.Array], updated.Annotations[keys.Array]
	if was == is {
		return nil
	}
	return field.ErrorList{field.Forbidden(annotations.Key(keys.Array), fmt.Sprintf(
		"the indices of an array cannot be changed; the indices of this job are %q: cancel array tasks with the annotation %s, or create another job", was, keys.ArrayCancelled))}
}
