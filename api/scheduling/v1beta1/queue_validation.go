package v1beta1

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// MaxQueueDepth is the default maximum depth of the queue tree below root.
const MaxQueueDepth = 5

// QueueRules holds the optional rules for queues. The zero value contains the default rules.
//
// +kubebuilder:object:generate=false
type QueueRules struct {
	// MaxDepth is the maximum depth of the queue tree below root; 0 means MaxQueueDepth.
	MaxDepth int
	// FreeRoot permits changes to the amounts of the root queue.
	FreeRoot bool
	// KeepBusy forbids the deletion of queues in which pods run.
	KeepBusy bool
}

// LooseQueueRules returns the rules that apply in all installations. Clients use them because they do not know the
// configuration of the installation; the server applies the other rules.
func LooseQueueRules() QueueRules { return QueueRules{MaxDepth: deepestLook, FreeRoot: true} }

func (r QueueRules) maxDepth() int {
	if r.MaxDepth == 0 {
		return MaxQueueDepth
	}
	return r.MaxDepth
}

// ValidateQueue calls QueueRules.Validate with the default rules.
func ValidateQueue(q *Queue, queues QueueLookup) field.ErrorList {
	return QueueRules{}.Validate(q, queues)
}

// ValidateQueueUpdate calls QueueRules.ValidateUpdate with the default rules.
func ValidateQueueUpdate(old, updated *Queue, queues QueueLookup) field.ErrorList {
	return QueueRules{}.ValidateUpdate(old, updated, queues)
}

// ValidateQueueDelete calls QueueRules.ValidateDelete with the default rules.
func ValidateQueueDelete(name string, queues QueueLookup) field.ErrorList {
	return QueueRules{}.ValidateDelete(name, queues)
}

// Validate returns the validation errors of a new Queue. If queues is nil, the position in the tree is not checked.
func (r QueueRules) Validate(q *Queue, queues QueueLookup) field.ErrorList {
	errs := append(validateQueueWish(q), validateQueueAlone(q)...)
	if queues == nil {
		return errs
	}
	errs = append(errs, validateHierarchyPath(q, queues)...)
	if placed := r.validatePlace(q, queues); len(placed) > 0 {
		return append(errs, placed...) // without a valid position, amounts cannot be compared
	}
	return append(errs, validateQueueAmounts(q, queues)...)
}

// ValidateUpdate returns the validation errors of an updated Queue. It does not check unchanged parts, so that a
// queue can always be closed, labelled or deleted.
func (r QueueRules) ValidateUpdate(old, updated *Queue, queues QueueLookup) field.ErrorList {
	var errs field.ErrorList
	if old.Annotations[keys.QueueState] != updated.Annotations[keys.QueueState] {
		errs = validateQueueWish(updated)
	}
	if apiequality.Semantic.DeepEqual(old.Spec, updated.Spec) && samePath(old, updated) {
		return errs
	}
	errs = append(errs, validateQueueAlone(updated)...)
	if updated.Name == keys.RootQueue {
		if r.FreeRoot {
			return errs
		}
		return append(errs, validateRootUpdate(old, updated)...)
	}
	if queues == nil {
		return errs
	}
	if !samePath(old, updated) {
		errs = append(errs, validateHierarchyPath(updated, queues)...)
	}
	moved := old.ParentName() != updated.ParentName()
	if moved {
		if placed := r.validatePlace(updated, queues); len(placed) > 0 {
			return append(errs, placed...)
		}
	}
	if moved || !haveSameAmounts(&old.Spec, &updated.Spec) {
		errs = append(errs, validateQueueAmounts(updated, queues)...)
	}
	return errs
}

// haveSameAmounts reports whether two specs have the same capability, deserved resources and guarantee.
func haveSameAmounts(a, b *QueueSpec) bool {
	return apiequality.Semantic.DeepEqual(a.Capability, b.Capability) &&
		apiequality.Semantic.DeepEqual(a.Deserved, b.Deserved) && apiequality.Semantic.DeepEqual(a.Guarantee, b.Guarantee)
}

// ValidateDelete returns the reasons why the named queue must not be deleted.
func (r QueueRules) ValidateDelete(name string, queues QueueLookup) field.ErrorList {
	path := field.NewPath("metadata", "name")
	if name == keys.DefaultQueue || name == keys.RootQueue {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("`%s` queue can not be deleted", name))}
	}
	if queues == nil {
		return nil
	}
	if queue, ok := queues.Queue(name); ok && r.KeepBusy {
		if pods := queue.Status.Allocated[corev1.ResourcePods]; pods.Sign() > 0 {
			return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("queue %s cannot be deleted because it has allocated Pods: %s", name, pods.String()))}
		}
	}
	if children := queues.Children(name); len(children) > 0 {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("queue %s can not be deleted because it has %d child queues: %s",
			name, len(children), strings.Join(children, ", ")))}
	}
	return nil
}

func samePath(a, b *Queue) bool {
	return a.Annotations[keys.Hierarchy] == b.Annotations[keys.Hierarchy] &&
		a.Annotations[keys.HierarchyWeights] == b.Annotations[keys.HierarchyWeights]
}

// validateQueueAlone makes the checks that do not involve other queues.
func validateQueueAlone(q *Queue) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if q.Spec.Weight < 1 || q.Spec.Weight > 65535 {
		errs = append(errs, field.Invalid(spec.Child("weight"), q.Spec.Weight, "queue weight must be between 1 and 65535"))
	}
	if q.Spec.Priority < 0 {
		errs = append(errs, field.Invalid(spec.Child("priority"), q.Spec.Priority, "must not be negative"))
	}
	errs = append(errs, ValidateResources(q.Spec.Capability, spec.Child("capability"))...)
	errs = append(errs, ValidateResources(q.Spec.Deserved, spec.Child("deserved"))...)
	errs = append(errs, ValidateResources(q.Spec.Guarantee.Resource, spec.Child("guarantee", "resource"))...)
	for _, r := range exceeding(q.Spec.Guarantee.Resource, q.Spec.Deserved, true) {
		guaranteed, deserved := q.Spec.Guarantee.Resource[r], q.Spec.Deserved[r]
		errs = append(errs, field.Invalid(spec.Child("deserved").Key(string(r)), deserved.String(),
			fmt.Sprintf("deserved[%s] must be >= guarantee[%s]=%s", r, r, guaranteed.String())))
	}
	for _, r := range exceeding(q.Spec.Deserved, q.Spec.Capability, false) {
		deserved, capability := q.Spec.Deserved[r], q.Spec.Capability[r]
		errs = append(errs, field.Invalid(spec.Child("deserved").Key(string(r)), deserved.String(),
			fmt.Sprintf("deserved[%s] must be <= capability[%s]=%s", r, r, capability.String())))
	}
	errs = append(errs, validateJobLimits(q.Spec.JobLimits, spec.Child("jobLimits"))...)
	return append(errs, validateHierarchyAnnotations(q)...)
}

// validateRootUpdate checks that the amounts of root do not change, because they are the capacity of the cluster.
func validateRootUpdate(old, updated *Queue) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.Capability, updated.Spec.Capability) &&
		apiequality.Semantic.DeepEqual(old.Spec.Deserved, updated.Spec.Deserved) &&
		apiequality.Semantic.DeepEqual(old.Spec.Guarantee.Resource, updated.Spec.Guarantee.Resource) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"),
		"root queue's resource attributes (capability, deserved, guarantee) cannot be modified")}
}

// validateHierarchyAnnotations checks that the annotations contain a path, and a weight for each element of the path.
func validateHierarchyAnnotations(q *Queue) field.ErrorList {
	path, weights := q.Annotations[keys.Hierarchy], q.Annotations[keys.HierarchyWeights]
	if path == "" && weights == "" {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(keys.HierarchyWeights)
	parts := strings.Split(weights, "/")
	if steps := strings.Split(path, "/"); len(steps) != len(parts) {
		return field.ErrorList{field.Invalid(at, weights, fmt.Sprintf(
			"%s must have the same length with %s: %d parts, but %q has %d", keys.HierarchyWeights, keys.Hierarchy, len(parts), path, len(steps)))}
	}
	var errs field.ErrorList
	for _, part := range parts {
		if weight, err := strconv.ParseFloat(part, 64); err != nil || !(weight > 0) || math.IsInf(weight, 1) {
			errs = append(errs, field.Invalid(at, weights, fmt.Sprintf("%q is not a valid weight: use a number greater than 0", part)))
		}
	}
	return errs
}

// validateHierarchyPath checks that the path in the annotations of every queue leads to a leaf.
func validateHierarchyPath(q *Queue, queues QueueLookup) field.ErrorList {
	path := q.Annotations[keys.Hierarchy]
	if path == "" {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(keys.Hierarchy)
	for _, other := range queues.Queues() {
		if other.Name != q.Name && strings.HasPrefix(other.Annotations[keys.Hierarchy], path+"/") {
			return field.ErrorList{field.Invalid(at, path, fmt.Sprintf("%s is not allowed to be in the sub path of %s of queue %s",
				path, other.Annotations[keys.Hierarchy], other.Name))}
		}
	}
	return nil
}
