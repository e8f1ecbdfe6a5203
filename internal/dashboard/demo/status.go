package demo

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// FillInStatus fills in the status of the queues among objects as the controllers and the scheduler would: the numbers
// of running and waiting gangs, and the amounts that pods use in each queue and its descendants. So the tests need not
// contain consistent numbers.
func FillInStatus(objects []runtime.Object) []runtime.Object {
	queues := map[string]*schedulingv1beta1.Queue{}
	for _, object := range objects {
		if q, ok := object.(*schedulingv1beta1.Queue); ok {
			queues[q.Name] = q
			q.Status.Running, q.Status.Pending, q.Status.Inqueue, q.Status.Allocated = 0, 0, 0, corev1.ResourceList{}
		}
	}
	queueOf := map[types.UID]string{} // by the job's UID
	for _, object := range objects {
		group, ok := object.(*schedulingv1beta1.PodGroup)
		if !ok || queues[group.Spec.Queue] == nil {
			continue
		}
		queueOf[group.OwnerReferences[0].UID] = group.Spec.Queue
		switch status := &queues[group.Spec.Queue].Status; group.Status.Phase {
		case schedulingv1beta1.PodGroupRunning:
			status.Running++
		case schedulingv1beta1.PodGroupInqueue:
			status.Inqueue++
		case schedulingv1beta1.PodGroupPending:
			status.Pending++
		}
	}
	for _, object := range objects {
		pod, ok := object.(*corev1.Pod)
		if !ok || !holdsResources(pod) || len(pod.OwnerReferences) == 0 {
			continue
		}
		for q := queues[queueOf[pod.OwnerReferences[0].UID]]; q != nil; q = queues[q.Spec.Parent] {
			addAmounts(q.Status.Allocated, podRequests(&pod.Spec))
		}
	}
	for _, object := range objects {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok && group.Status.Explanation != nil {
			fillInExplanation(group.Status.Explanation, group, queues[group.Spec.Queue])
		}
	}
	return objects
}

// holdsResources reports whether a pod has a node and has not ended.
func holdsResources(pod *corev1.Pod) bool {
	hasEnded := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	return pod.Spec.NodeName != "" && !hasEnded
}

// fillInExplanation fills in an explanation's amounts of the queue, and what the gang lacks there.
func fillInExplanation(e *schedulingv1beta1.Explanation, group *schedulingv1beta1.PodGroup, q *schedulingv1beta1.Queue) {
	if e.Queue == nil || q == nil {
		return
	}
	e.Queue.Allocated, e.Queue.Capability = amountsNamedIn(q.Status.Allocated, *group.Spec.MinResources), q.Spec.Capability
	if e.Reason != string(reason.OverCapability) {
		return
	}
	asked, held, may := (*group.Spec.MinResources)[GPU], q.Status.Allocated[GPU], q.Spec.Capability[GPU]
	left, short := may.DeepCopy(), asked.DeepCopy()
	left.Sub(held)
	short.Sub(left)
	e.Message = fmt.Sprintf("queue %s would exceed its capability: %s requested %s, %s in use, limit %s", q.Name, GPU, &asked, &held, &may)
	e.Short = []schedulingv1beta1.Shortage{{Resource: GPU, Scope: "queue", Asked: asked.String(), Available: left.String(), ShortBy: short.String()}}
}

// amountsNamedIn returns the amounts of the resources that others also contains.
func amountsNamedIn(amounts, others corev1.ResourceList) corev1.ResourceList {
	some := corev1.ResourceList{}
	for name, amount := range amounts {
		if _, named := others[name]; named {
			some[name] = amount
		}
	}
	return some
}

// podRequests returns the total request of a pod's containers.
func podRequests(spec *corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range spec.Containers {
		addAmounts(sum, spec.Containers[i].Resources.Requests)
	}
	return sum
}

func addAmounts(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name].DeepCopy()
		total.Add(amount)
		sum[name] = total
	}
}
