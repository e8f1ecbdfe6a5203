package whatif

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// setServerFields sets those fields of the created objects that the API server would set.
func (o *offspring) setServerFields(uid types.UID, created metav1.Time, classes []*schedulingv1.PriorityClass) {
	o.group.UID, o.group.CreationTimestamp = uid, created
	for i := range o.pods {
		o.finishPod(i, created, classes)
	}
	for i, claim := range o.claims {
		claim.UID, claim.CreationTimestamp = types.UID(fmt.Sprintf("%s-claim-%d", uid, i)), created
		claim.Status.Phase = corev1.ClaimPending
	}
}

// finishPod sets those fields of a pod that the API server would set.
func (o *offspring) finishPod(i int, created metav1.Time, classes []*schedulingv1.PriorityClass) {
	pod := o.pods[i]
	pod.UID, pod.CreationTimestamp = types.UID(fmt.Sprintf("%s-%d", o.group.UID, i)), created
	pod.Status.Phase = corev1.PodPending
	tolerateBriefly(pod, corev1.TaintNodeNotReady)
	tolerateBriefly(pod, corev1.TaintNodeUnreachable)
	setPriority(pod, classes)
	mergeLabelKeys(pod)
	requestLimits(pod)
}

// requestLimits sets missing requests of containers to their limits, as Kubernetes' defaults do.
func requestLimits(pod *corev1.Pod) {
	for _, containers := range []*[]corev1.Container{&pod.Spec.InitContainers, &pod.Spec.Containers} {
		*containers = slices.Clone(*containers) // the containers of the template are shared
		for i := range *containers {
			resources := &(*containers)[i].Resources
			requests := maps.Clone(resources.Requests)
			for name, limit := range resources.Limits {
				if _, requested := requests[name]; requested {
					continue
				}
				if requests == nil {
					requests = corev1.ResourceList{}
				}
				requests[name] = limit
			}
			resources.Requests = requests
		}
	}
}

// briefly is how long, in seconds, Kubernetes by default lets pods stay on a node that is not ready.
var briefly = int64(300)

// tolerateBriefly adds the toleration that Kubernetes' admission adds to every pod.
func tolerateBriefly(pod *corev1.Pod, key string) {
	for _, t := range pod.Spec.Tolerations {
		toleratesKey := t.Key == key || t.Key == ""
		if toleratesKey && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
		Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &briefly,
	})
}

// setPriority sets the priority of a pod from its PriorityClass. If the pod names no class, setPriority uses the
// default class with the lowest value.
func setPriority(pod *corev1.Pod, classes []*schedulingv1.PriorityClass) {
	var class *schedulingv1.PriorityClass
	for _, c := range classes {
		isLowest := class == nil || c.Value < class.Value
		switch name := pod.Spec.PriorityClassName; {
		case name == c.Name:
			class = c
		case name == "" && c.GlobalDefault && isLowest:
			class = c
		}
	}
	value := int32(0)
	if class != nil {
		value = class.Value
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = class.PreemptionPolicy
		}
	}
	pod.Spec.Priority = &value
}

// priorityValues returns the values of the priority classes by name, as the job controller needs them.
func (q *Question) priorityValues() map[string]int32 {
	values := map[string]int32{}
	for _, class := range q.Classes {
		values[class.Name] = class.Value
	}
	return values
}
