package v1beta1

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// deepestLook is the maximum number of levels to examine, in case queues form a cycle.
const deepestLook = 64

// validatePlace checks that the parent exists, is connected to root within the maximum depth, and does not hold pods
// itself.
func (r QueueRules) validatePlace(q *Queue, queues QueueLookup) field.ErrorList {
	path := field.NewPath("spec", "parent")
	name := q.Spec.Parent
	if q.Name == keys.RootQueue {
		if name != "" {
			return field.ErrorList{field.Invalid(path, name, "root queue has no parent")}
		}
		return nil
	}
	if name == "" || name == keys.RootQueue {
		return nil
	}
	if name == q.Name {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("queue %s cannot use itself as parent", q.Name))}
	}
	parent, ok := queues.Queue(name)
	if !ok {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("parent queue %q does not exist; create it first", name))}
	}
	chain, err := ancestors(q, queues)
	if err != nil {
		return field.ErrorList{field.Invalid(path, name, err.Error())}
	}
	if depth := len(chain) + subtreeDepth(q.Name, queues, r.maxDepth()); depth > r.maxDepth() {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"queue %s would make the queue hierarchy %d levels deep; the maximum is %d", q.Name, depth, r.maxDepth()))}
	}
	held := parent.Status.Allocated[corev1.ResourcePods]
	if others := without(queues.Children(name), q.Name); len(others) == 0 && held.Sign() > 0 {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf(
			"queue %s cannot be the parent queue of queue %s because it has allocated Pods: %s", name, q.Name, held.String()))}
	}
	return nil
}

// QueueWarnings returns warnings about how a queue's position in the tree affects other queues.
func QueueWarnings(q *Queue, queues QueueLookup) []string {
	if queues == nil || q.Spec.Parent != keys.DefaultQueue || len(without(queues.Children(keys.DefaultQueue), q.Name)) > 0 {
		return nil
	}
	return []string{"spec.parent: queue " + keys.DefaultQueue + " gets its first child queue; from now on, jobs that do not specify a queue will be rejected, because only leaf queues accept jobs"}
}

// ancestors returns the ancestors of q except root, nearest first. If they form a cycle, it returns an error.
func ancestors(q *Queue, queues QueueLookup) ([]*Queue, error) {
	var chain []*Queue
	seen := map[string]bool{q.Name: true}
	names := []string{q.Name}
	for name := q.ParentName(); name != keys.RootQueue && name != ""; {
		names = append(names, name)
		if seen[name] {
			return nil, fmt.Errorf("queues would form a cycle: %s", strings.Join(names, " -> "))
		}
		seen[name] = true
		parent, ok := queues.Queue(name)
		if !ok {
			return chain, nil
		}
		chain = append(chain, parent)
		name = parent.ParentName()
	}
	return chain, nil
}

// subtreeDepth returns the number of levels of the subtree rooted at the named queue, up to limit.
func subtreeDepth(name string, queues QueueLookup, limit int) int {
	deepest := 0
	if limit > 0 {
		for _, child := range queues.Children(name) {
			deepest = max(deepest, subtreeDepth(child, queues, limit-1))
		}
	}
	return deepest + 1
}

// validateQueueAmounts compares the amounts of a queue with those of its ancestors, siblings and descendants.
func validateQueueAmounts(q *Queue, queues QueueLookup) field.ErrorList {
	if q.Name == keys.RootQueue {
		return nil
	}
	errs := validateAgainstAncestors(q, queues)
	if parent, ok := queues.Queue(q.ParentName()); ok && parent.Name != keys.RootQueue {
		family := append(lookupAll(without(queues.Children(parent.Name), q.Name), queues), q)
		errs = append(errs, validateSums(parent, family, "the child queues of queue "+parent.Name+" would have")...)
	}
	children := lookupAll(without(queues.Children(q.Name), q.Name), queues)
	if len(children) == 0 {
		return errs
	}
	errs = append(errs, validateSums(q, children, "the child queues of this queue have")...)
	for _, child := range children {
		errs = append(errs, validateCapabilityBelow(q, child, queues, deepestLook)...)
	}
	return errs
}

// validateAgainstAncestors checks that, for each resource, the capability does not exceed that of the nearest
// ancestor that limits the resource.
func validateAgainstAncestors(q *Queue, queues QueueLookup) field.ErrorList {
	chain, err := ancestors(q, queues)
	if err != nil {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "parent"), q.Spec.Parent, err.Error())}
	}
	var errs field.ErrorList
	for _, r := range sortedKeys(q.Spec.Capability) {
		own := q.Spec.Capability[r]
		for _, above := range chain {
			limit, ok := above.Spec.Capability[r]
			if !ok || limit.Sign() <= 0 {
				continue
			}
			if own.Cmp(limit) > 0 {
				errs = append(errs, field.Invalid(field.NewPath("spec", "capability").Key(string(r)), own.String(),
					fmt.Sprintf("capability[%s] must be <= the capability of its ancestor %s, which is %s", r, above.Name, limit.String())))
			}
			break
		}
	}
	return errs
}

// validateSums checks that neither the guarantees nor the deserved amounts of the children add up to more than those
// of their parent.
func validateSums(parent *Queue, children []*Queue, whose string) field.ErrorList {
	guarantee, deserved := corev1.ResourceList{}, corev1.ResourceList{}
	for _, child := range children {
		addTo(guarantee, child.Spec.Guarantee.Resource)
		addTo(deserved, child.Spec.Deserved)
	}
	errs := sumErrors(guarantee, parent.Spec.Guarantee.Resource, field.NewPath("spec", "guarantee", "resource"), whose, "guarantee", parent.Name)
	return append(errs, sumErrors(deserved, parent.Spec.Deserved, field.NewPath("spec", "deserved"), whose, "deserved", parent.Name)...)
}

func sumErrors(sum, limit corev1.ResourceList, path *field.Path, whose, what, parent string) field.ErrorList {
	var errs field.ErrorList
	for _, r := range exceeding(sum, limit, true) {
		total, most := sum[r], limit[r]
		errs = append(errs, field.Invalid(path.Key(string(r)), total.String(),
			fmt.Sprintf("%s %s in total for %s, but the value for queue %s is %s", whose, total.String(), what, parent, most.String())))
	}
	return errs
}

// validateCapabilityBelow checks that the capability is not less than that of the nearest descendant with a limit in
// each branch.
func validateCapabilityBelow(q, below *Queue, queues QueueLookup, limit int) field.ErrorList {
	var errs field.ErrorList
	open := corev1.ResourceList{} // not limited by below, but possibly by its children
	for _, r := range sortedKeys(q.Spec.Capability) {
		own := q.Spec.Capability[r]
		lower, ok := below.Spec.Capability[r]
		switch {
		case !ok:
			open[r] = own
		case own.Cmp(lower) < 0:
			errs = append(errs, field.Invalid(field.NewPath("spec", "capability").Key(string(r)), own.String(),
				fmt.Sprintf("capability[%s] must be >= the capability of its descendant %s, which is %s", r, below.Name, lower.String())))
		}
	}
	if len(open) == 0 || limit == 0 {
		return errs
	}
	rest := &Queue{ObjectMeta: q.ObjectMeta, Spec: QueueSpec{Capability: open}}
	for _, child := range lookupAll(without(queues.Children(below.Name), q.Name), queues) {
		errs = append(errs, validateCapabilityBelow(rest, child, queues, limit-1)...)
	}
	return errs
}

func lookupAll(names []string, queues QueueLookup) []*Queue {
	found := make([]*Queue, 0, len(names))
	for _, name := range names {
		if q, ok := queues.Queue(name); ok {
			found = append(found, q)
		}
	}
	return found
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(other string) bool { return other == name })
}
