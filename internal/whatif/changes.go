package whatif

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// describeChanges describes, for users, the differences in a queue's spec that matter to the scheduler.
func describeChanges(old, fresh *schedulingv1beta1.Queue) []string {
	var changes []string
	tell := func(what, before, after string) {
		if before != after {
			changes = append(changes, fmt.Sprintf("%s %s -> %s", what, textOrNone(before), textOrNone(after)))
		}
	}
	tell("weight", strconv.Itoa(int(old.Spec.Weight)), strconv.Itoa(int(fresh.Spec.Weight)))
	tell("priority", strconv.Itoa(int(old.Spec.Priority)), strconv.Itoa(int(fresh.Spec.Priority)))
	tell("parent", old.ParentName(), fresh.ParentName())
	tell("reclaimable", reclaimableText(old), reclaimableText(fresh))
	tell("dequeueStrategy", string(old.Spec.DequeueStrategy), string(fresh.Spec.DequeueStrategy))
	for _, limit := range []struct {
		name          string
		before, after corev1.ResourceList
	}{
		{"capability", old.Spec.Capability, fresh.Spec.Capability},
		{"deserved", old.Spec.Deserved, fresh.Spec.Deserved},
		{"guarantee", old.Spec.Guarantee.Resource, fresh.Spec.Guarantee.Resource},
	} {
		names := map[corev1.ResourceName]bool{}
		for _, list := range []corev1.ResourceList{limit.before, limit.after} {
			for name := range list {
				names[name] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			tell(limit.name+" "+string(name), amountText(limit.before, name), amountText(limit.after, name))
		}
	}
	return changes
}

func amountText(list corev1.ResourceList, name corev1.ResourceName) string {
	quantity, ok := list[name]
	if !ok {
		return ""
	}
	return quantity.String()
}

func reclaimableText(q *schedulingv1beta1.Queue) string {
	return strconv.FormatBool(q.Spec.Reclaimable == nil || *q.Spec.Reclaimable)
}
