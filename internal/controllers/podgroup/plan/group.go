// Package plan computes the PodGroup of a plain pod. The controller creates it, and a what-if simulation adds it to the
// model.
//
//	In:   a pod, the annotations of its owners
//	Out:  a PodGroup
//
// # Invariants
//
//   - All functions are pure.
//
// # Concurrency
//
// All functions may be called concurrently.
package plan

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/quotausage"
)

// GroupNameOf returns the name of a plain pod's PodGroup, derived from the UID of its controller, or of the pod itself.
func GroupNameOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		return GroupNameFor(owner.UID)
	}
	return GroupNameFor(pod.UID)
}

// GroupNameFor returns the name of the PodGroup shared by all pods of a controller, or of the PodGroup of a single pod.
func GroupNameFor(uid types.UID) string { return keys.PodGroupNamePrefix + string(uid) }

// GroupFor returns the PodGroup of a plain pod. inherited holds the annotations of the pod's owners; annotations of
// earlier owners take precedence.
func GroupFor(pod *corev1.Pod, inherited map[string]string) *schedulingv1beta1.PodGroup {
	group := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{
			Name: GroupNameOf(pod), Namespace: pod.Namespace, OwnerReferences: groupOwners(pod),
			Annotations: groupAnnotations(pod, inherited), Labels: map[string]string{},
		},
		Spec: schedulingv1beta1.PodGroupSpec{
			MinMember: MinMember(pod.Annotations, inherited), Queue: pod.Annotations[keys.PodQueueName], PriorityClassName: pod.Spec.PriorityClassName,
			NetworkTopology: parseTopology(pod.Annotations),
		},
		Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupPending},
	}
	if group.Spec.Queue == "" {
		group.Spec.Queue = inherited[keys.PodQueueName]
	}
	if group.Spec.Queue == "" {
		group.Spec.Queue = keys.DefaultQueue
	}
	copyNamedKeys(group.Labels, pod.Labels, keys.Preemptable, keys.CooldownTime)
	if taken := slices.Sorted(maps.Keys(group.Annotations)); len(taken) > 0 {
		group.Annotations[keys.TakenOver] = strings.Join(taken, ",")
	}
	resources := corev1.ResourceList{}
	quotausage.Add(resources, quotausage.UsageOfPod(&pod.Spec), group.Spec.MinMember)
	group.Spec.MinResources = &resources
	return group
}

// groupOwners returns the owner references of the PodGroup. These are the owner references of the pod or, if the pod
// has no controller, a reference to the pod itself. The PodGroup never blocks the deletion of an owner.
func groupOwners(pod *corev1.Pod) []metav1.OwnerReference {
	refs := slices.Clone(pod.OwnerReferences)
	if metav1.GetControllerOfNoCopy(pod) == nil {
		refs = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
	}
	for i := range refs {
		refs[i].BlockOwnerDeletion = nil
	}
	return refs
}

func groupAnnotations(pod *corev1.Pod, inherited map[string]string) map[string]string {
	a := map[string]string{}
	for key, value := range inherited {
		if strings.HasPrefix(key, keys.VolcanoPrefix) || key == keys.RunningEstimate {
			a[key] = value
		}
	}
	copyNamedKeys(a, pod.Annotations, keys.Preemptable, keys.CooldownTime, keys.RevocableZone, keys.RunningEstimate)
	if _, ofJob := pod.Labels[keys.JobName]; !ofJob {
		// The policy for users does not check pods with this label, so their annotation cannot be trusted.
		copyNamedKeys(a, pod.Annotations, keys.User)
	}
	if _, set := pod.Annotations[keys.JDBMinAvailable]; set {
		copyNamedKeys(a, pod.Annotations, keys.JDBMinAvailable)
	} else {
		copyNamedKeys(a, pod.Annotations, keys.JDBMaxUnavailable)
	}
	return a
}

func copyNamedKeys(to, from map[string]string, names ...string) {
	for _, name := range names {
		if value, set := from[name]; set {
			to[name] = value
		}
	}
}

// MinMember returns the minimum size from the owner's annotation or, if it is missing, from the pod's annotation,
// because the owner may be of a kind that is not read. The default is 1.
func MinMember(pod, inherited map[string]string) int32 {
	text, isGiven := inherited[keys.GroupMinMember]
	if !isGiven {
		text = pod[keys.GroupMinMember]
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 1
	}
	return int32(n)
}

// parseTopology reads the network topology from a pod's annotations. It may return nil.
func parseTopology(a map[string]string) *schedulingv1beta1.NetworkTopologySpec {
	mode, hasMode := a[keys.NetworkTopologyMode]
	tier, err := strconv.Atoi(a[keys.NetworkTopologyTier])
	allowed := err == nil && tier >= 0 && tier <= math.MaxInt32 // the API rejects negative values
	if !hasMode && !allowed {
		return nil
	}
	t := &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode}
	if strings.EqualFold(mode, string(schedulingv1beta1.SoftNetworkTopologyMode)) {
		t.Mode = schedulingv1beta1.SoftNetworkTopologyMode
	}
	if allowed {
		t.HighestTierAllowed = &tier
	}
	return t
}

// InheritAnnotations adds the annotations of another owner. Annotations of earlier owners take precedence.
func InheritAnnotations(to, from map[string]string) {
	for key, value := range from {
		if _, set := to[key]; !set {
			to[key] = value
		}
	}
}

// RefreshedGroup returns a copy of an existing PodGroup, updated with the values from its pod and owner, and reports
// whether anything has changed. It keeps the annotations and labels that other components have set.
func RefreshedGroup(there, wanted *schedulingv1beta1.PodGroup) (update *schedulingv1beta1.PodGroup, changed bool) {
	update = there.DeepCopy()
	update.Spec.MinMember = wanted.Spec.MinMember
	if wanted.Spec.Queue != keys.DefaultQueue {
		update.Spec.Queue = wanted.Spec.Queue // otherwise it may be the queue of the namespace, which admission has set
	}
	update.Spec.PriorityClassName, update.Spec.MinResources = wanted.Spec.PriorityClassName, wanted.Spec.MinResources
	update.Spec.NetworkTopology = wanted.Spec.NetworkTopology
	if update.Annotations == nil {
		update.Annotations = map[string]string{}
	}
	if update.Labels == nil {
		update.Labels = map[string]string{}
	}
	for key := range strings.SplitSeq(there.Annotations[keys.TakenOver], ",") {
		delete(update.Annotations, key)
	}
	delete(update.Annotations, keys.TakenOver)
	for _, key := range []string{keys.Preemptable, keys.CooldownTime} {
		delete(update.Labels, key)
	}
	maps.Copy(update.Annotations, wanted.Annotations)
	maps.Copy(update.Labels, wanted.Labels)
	return update, HaveDifferences(there, update)
}

// HaveDifferences reports whether two PodGroups differ in their spec, annotations or labels.
func HaveDifferences(x, y *schedulingv1beta1.PodGroup) bool {
	return !equality.Semantic.DeepEqual(x.Spec, y.Spec) || !maps.Equal(x.Annotations, y.Annotations) || !maps.Equal(x.Labels, y.Labels)
}
