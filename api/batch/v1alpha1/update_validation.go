package v1alpha1

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// onlyThese is Volcano's message for a change of an immutable field; instead suggests an alternative.
const onlyThese = "job updates may not change fields other than `minAvailable`, `tasks[*].replicas under spec` and `PriorityClassName`"

const instead = ": delete the job and submit the changed job, or submit the changed job under another name"

// ValidateJobUpdate returns the validation errors of an updated Job. The following may change: minAvailable,
// priorityClassName, and the replicas, minAvailable and totalPartitions of tasks. Time limits may become shorter.
// While the job is held, the queue, the time limits and the nodes that pods may use (node affinity) may also change
// in any way. An unchanged spec is not checked, so that the job can always end.
func ValidateJobUpdate(old, updated *Job) field.ErrorList {
	beyond := validateSameID(old, updated)
	annotations := field.NewPath("metadata", "annotations")
	if gatesChanged(old, updated) {
		beyond = append(beyond, validateGates(updated, annotations)...)
	}
	sameSpec := apiequality.Semantic.DeepEqual(old.Spec, updated.Spec)
	if arrayChanged(old, updated) || !sameSpec {
		beyond = append(beyond, validateSameElements(old, updated, annotations)...)
		beyond = append(beyond, validateArray(updated, nil)...)
	}
	if sameSpec {
		return beyond
	}
	return append(beyond, validateSpecUpdate(old, updated)...)
}

func validateSpecUpdate(old, updated *Job) field.ErrorList {
	spec := field.NewPath("spec")
	if before, after := len(old.Spec.Tasks), len(updated.Spec.Tasks); before != after {
		return field.ErrorList{field.Forbidden(spec.Child("tasks"), fmt.Sprintf("job updates may not add or remove tasks: the job has %d tasks, and the update has %d tasks", before, after))}
	}
	// Differences in defaults are not changes, because a user may apply the original manifest again.
	before, after := fixedPart(old), fixedPart(updated)
	if AtGate(old) {
		freeAtGate(&before)
		freeAtGate(&after)
	} else {
		freeShorterTime(&before, &after)
	}
	var errs field.ErrorList
	for _, path := range differences(reflect.ValueOf(before), reflect.ValueOf(after), spec) {
		errs = append(errs, field.Forbidden(path, onlyThese+instead))
	}
	for i := range updated.Spec.Tasks {
		task, at := &updated.Spec.Tasks[i], spec.Child("tasks").Index(i)
		errs = append(errs, validateTaskNumbers(updated, task, at)...)
		errs = append(errs, validatePartitions(updated, task, at)...)
		errs = append(errs, validateTaskName(updated, task, at.Child("name"))...)
	}
	errs = append(errs, validateScalars(&updated.Spec, spec)...)
	errs = append(errs, validatePluginSizes(updated, spec.Child("plugins"))...)
	return append(errs, validateTotals(updated, spec)...)
}

// fixedPart returns the immutable part of a job's spec with defaults set.
func fixedPart(job *Job) JobSpec {
	job = job.DeepCopy()
	DefaultJob(job, job.Spec.SchedulerName)
	spec := job.Spec
	spec.MinAvailable = 0
	spec.PriorityClassName = ""
	for i := range spec.Tasks {
		spec.Tasks[i].Replicas = 0
		spec.Tasks[i].MinAvailable = nil
		if p := spec.Tasks[i].PartitionPolicy; p != nil {
			p.TotalPartitions = 0 // derived from the replicas
		}
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].VolumeClaim != nil {
			spec.Volumes[i].VolumeClaimName = "" // the controller sets it
		}
	}
	return spec
}

// freeAtGate clears those fields of the immutable part that may change while nothing has been created from the spec.
// Volcano does not permit these changes.
func freeAtGate(spec *JobSpec) {
	spec.Queue, spec.RunningEstimate = "", nil
	for i := range spec.Tasks {
		pod := &spec.Tasks[i].Template.Spec
		pod.ActiveDeadlineSeconds = nil
		if pod.Affinity == nil {
			continue
		}
		pod.Affinity.NodeAffinity = nil
		if *pod.Affinity == (corev1.Affinity{}) {
			pod.Affinity = nil
		}
	}
}

// freeShorterTime copies time limits that became shorter to before, so that they do not count as changes. The new
// limits apply to pods created later, and Kubernetes permits the same change for running pods. Volcano does not
// permit these changes.
func freeShorterTime(before, after *JobSpec) {
	if isShorterEstimate(before.RunningEstimate, after.RunningEstimate) {
		before.RunningEstimate = after.RunningEstimate
	}
	for i := range after.Tasks {
		old, limit := &before.Tasks[i].Template.Spec, after.Tasks[i].Template.Spec.ActiveDeadlineSeconds
		if isShorterLimit(old.ActiveDeadlineSeconds, limit) {
			old.ActiveDeadlineSeconds = limit
		}
	}
}

// isShorterEstimate reports whether both estimates are set and the new one is shorter.
func isShorterEstimate(old, estimate *metav1.Duration) bool {
	if old == nil || estimate == nil {
		return false
	}
	return estimate.Duration > 0 && estimate.Duration < old.Duration
}

// isShorterLimit reports whether a limit is shorter than the old one. If the old limit is missing, any limit is
// shorter.
func isShorterLimit(old, limit *int64) bool {
	if limit == nil || *limit <= 0 {
		return false
	}
	return old == nil || *limit < *old
}

// differences returns the paths of the innermost JSON fields in which two values of the same type differ.
func differences(a, b reflect.Value, path *field.Path) []*field.Path {
	if apiequality.Semantic.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return differences(a.Elem(), b.Elem(), path)
		}
	case reflect.Slice:
		if a.Len() == b.Len() && a.Type().Elem().Kind() == reflect.Struct {
			var paths []*field.Path
			for i := range a.Len() {
				paths = append(paths, differences(a.Index(i), b.Index(i), path.Index(i))...)
			}
			return paths
		}
	case reflect.Struct:
		if paths := structDifferences(a, b, path); len(paths) > 0 {
			return paths
		}
	case reflect.Map:
		if a.Type().Key().Kind() == reflect.String {
			return mapDifferences(a, b, path)
		}
	}
	return []*field.Path{path}
}

func structDifferences(a, b reflect.Value, path *field.Path) []*field.Path {
	var paths []*field.Path
	for i := range a.NumField() {
		member := a.Type().Field(i)
		if !member.IsExported() {
			return nil // a value such as a quantity or a time, which is not composed of JSON fields
		}
		name, options, _ := strings.Cut(member.Tag.Get("json"), ",")
		at := path
		if name != "" && !slices.Contains(strings.Split(options, ","), "inline") {
			at = path.Child(name)
		}
		paths = append(paths, differences(a.Field(i), b.Field(i), at)...)
	}
	return paths
}

func mapDifferences(a, b reflect.Value, path *field.Path) []*field.Path {
	var changed []string
	for _, key := range append(a.MapKeys(), b.MapKeys()...) {
		before, after := a.MapIndex(key), b.MapIndex(key)
		same := before.IsValid() == after.IsValid() && apiequality.Semantic.DeepEqual(before.Interface(), after.Interface())
		if !same && !slices.Contains(changed, key.String()) {
			changed = append(changed, key.String())
		}
	}
	slices.Sort(changed)
	paths := make([]*field.Path, len(changed))
	for i, key := range changed {
		paths[i] = path.Key(key)
	}
	return paths
}
