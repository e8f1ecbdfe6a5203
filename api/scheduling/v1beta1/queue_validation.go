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

// MaxQueueDepth is how many queues deep the tree below root may be when nothing else is said.
const MaxQueueDepth = 5

// QueueRules are the rules of queues that an installation may choose; the zero value is what is usual.
//
// +kubebuilder:object:generate=false
type QueueRules struct {
	// MaxDepth is how many queues deep the tree below root may be; 0 means MaxQueueDepth.
	MaxDepth int
	// FreeRoot lets the amounts of the root queue be changed.
	FreeRoot bool
	// KeepBusy forbids to delete a queue in which pods run.
	KeepBusy bool
}

// LooseQueueRules are what holds at every installation, whatever it chose: for clients, which do not know what that is.
// What it chose its server says.
func LooseQueueRules() QueueRules { return QueueRules{MaxDepth: deepestLook, FreeRoot: true} }

func (r QueueRules) maxDepth() int {
	if r.MaxDepth == 0 {
		return MaxQueueDepth
	}
	return r.MaxDepth
}

// ValidateQueue is Validate of the usual rules.
func ValidateQueue(q *Queue, queues QueueLookup) field.ErrorList {
	return QueueRules{}.Validate(q, queues)
}

// ValidateQueueUpdate is ValidateUpdate of the usual rules.
func ValidateQueueUpdate(old, updated *Queue, queues QueueLookup) field.ErrorList {
	return QueueRules{}.ValidateUpdate(old, updated, queues)
}

// ValidateQueueDelete is ValidateDelete of the usual rules.
func ValidateQueueDelete(name string, queues QueueLookup) field.ErrorList {
	return QueueRules{}.ValidateDelete(name, queues)
}

// Validate says what is wrong with a new Queue. Without queues nothing is said of its place in the tree.
func (r QueueRules) Validate(q *Queue, queues QueueLookup) field.ErrorList {
	errs := append(validateQueueWish(q), validateQueueAlone(q)...)
	if queues == nil {
		return errs
	}
	errs = append(errs, validateHierarchyPath(q, queues)...)
	if placed := r.validatePlace(q, queues); len(placed) > 0 {
		return append(errs, placed...) // without a place there is nothing to compare amounts with
	}
	return append(errs, validateQueueAmounts(q, queues)...)
}

// ValidateUpdate says what is wrong with a changed Queue. What did not change is not judged again, so that a
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
	if moved || !apiequality.Semantic.DeepEqual(old.Spec.Capability, updated.Spec.Capability) ||
		!apiequality.Semantic.DeepEqual(old.Spec.Deserved, updated.Spec.Deserved) ||
		!apiequality.Semantic.DeepEqual(old.Spec.Guarantee, updated.Spec.Guarantee) {
		errs = append(errs, validateQueueAmounts(updated, queues)...)
	}
	return errs
}

// ValidateDelete says why the queue of that name must stay.
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

// validateQueueAlone looks at what can be judged without other queues.
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
	return append(errs, validateHierarchyAnnotations(q)...)
}

// validateRootUpdate keeps the amounts of root: they are the cluster's.
func validateRootUpdate(old, updated *Queue) field.ErrorList {
	if apiequality.Semantic.DeepEqual(old.Spec.Capability, updated.Spec.Capability) &&
		apiequality.Semantic.DeepEqual(old.Spec.Deserved, updated.Spec.Deserved) &&
		apiequality.Semantic.DeepEqual(old.Spec.Guarantee.Resource, updated.Spec.Guarantee.Resource) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"),
		"root queue's resource attributes (capability, deserved, guarantee) cannot be modified")}
}

// validateHierarchyAnnotations wants a path and a weight for each of its steps.
func validateHierarchyAnnotations(q *Queue) field.ErrorList {
	path, weights := q.Annotations[keys.Hierarchy], q.Annotations[keys.HierarchyWeights]
	if path == "" && weights == "" {
		return nil
	}
	at := field.NewPath("metadata", "annotations").Key(keys.HierarchyWeights)
	parts := strings.Split(weights, "/")
	if steps := strings.Split(path, "/"); len(steps) != len(parts) {
		return field.ErrorList{field.Invalid(at, weights, fmt.Sprintf(
			"%s must have the same length with %s: %d parts, and %q has %d", keys.HierarchyWeights, keys.Hierarchy, len(parts), path, len(steps)))}
	}
	var errs field.ErrorList
	for _, part := range parts {
		if weight, err := strconv.ParseFloat(part, 64); err != nil || !(weight > 0) || math.IsInf(weight, 1) {
			errs = append(errs, field.Invalid(at, weights, fmt.Sprintf("%q is no weight: a number above 0 is", part)))
		}
	}
	return errs
}

// validateHierarchyPath keeps every path of the annotations a leaf.
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
