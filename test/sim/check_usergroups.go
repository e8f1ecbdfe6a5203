package sim

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// checkUserGroups checks, at rest, that every PodGroup of a user that has enough pods has started if it could run alone.
func (w *World) checkUserGroups() {
	for _, name := range slices.SortedFunc(maps.Keys(w.state.groups), compareNames) {
		if group := w.state.groups[name]; w.isGroupDue(name, group) {
			w.fail("PodGroup %s has %d pods and needs %d, but some of them have not been scheduled; it is %s", name.Name, w.countPodsOf(name), group.Spec.MinMember,
				w.describeGroup(group))
		}
	}
}

// isGroupDue reports whether pods of a user's PodGroup have no node although the PodGroup has enough pods and could run alone.
// Pods that have failed do not count, because users do not replace them.
func (w *World) isGroupDue(name types.NamespacedName, group *schedulingv1beta1.PodGroup) bool {
	if len(group.OwnerReferences) > 0 {
		return false
	}
	var all demand
	waiting := 0
	for _, pod := range w.podsOf(name) {
		if pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil {
			continue
		}
		all.add(milliCPU(pod))
		if pod.Spec.NodeName == "" {
			waiting++
		}
	}
	isComplete := all.pods >= int64(group.Spec.MinMember)
	return waiting > 0 && isComplete && w.fitsAlone(cmp.Or(group.Spec.Queue, keys.DefaultQueue), all)
}

// hasDueGroup reports whether a PodGroup of a user may still start.
func (w *World) hasDueGroup() bool {
	for name, group := range w.state.groups {
		if w.isGroupDue(name, group) {
			return true
		}
	}
	return false
}

// podsOf returns the pods of a PodGroup.
func (w *World) podsOf(group types.NamespacedName) (pods []*corev1.Pod) {
	for _, pod := range w.state.pods {
		if pod.Namespace == group.Namespace && keys.PodGroupOf(pod.Annotations) == group.Name {
			pods = append(pods, pod)
		}
	}
	return pods
}
