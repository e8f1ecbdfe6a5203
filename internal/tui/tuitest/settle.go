package tuitest

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Settled writes into the status of the queues among objects what controllers and
// scheduler would: how many gangs run and wait in each, and what pods hold in it and
// below it. Nobody has to type numbers that agree.
func Settled(objects []runtime.Object) []runtime.Object {
	queues := map[string]*schedulingv1beta1.Queue{}
	for _, object := range objects {
		if q, ok := object.(*schedulingv1beta1.Queue); ok {
			queues[q.Name] = q
			q.Status.Running, q.Status.Pending, q.Status.Inqueue, q.Status.Allocated = 0, 0, 0, corev1.ResourceList{}
		}
	}
	queueOf := map[types.UID]string{} // by the UID of the job
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
		if !ok || pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded || len(pod.OwnerReferences) == 0 {
			continue
		}
		for q := queues[queueOf[pod.OwnerReferences[0].UID]]; q != nil; q = queues[q.Spec.Parent] {
			add(q.Status.Allocated, asks(&pod.Spec))
		}
	}
	for _, object := range objects {
		if group, ok := object.(*schedulingv1beta1.PodGroup); ok && group.Status.Explanation != nil {
			settle(group.Status.Explanation, group, queues[group.Spec.Queue])
		}
	}
	return objects
}

// settle writes into an explanation what it says about the queue, and what the gang is short of there.
func settle(e *schedulingv1beta1.Explanation, group *schedulingv1beta1.PodGroup, q *schedulingv1beta1.Queue) {
	if e.Queue == nil || q == nil {
		return
	}
	e.Queue.Allocated, e.Queue.Capability = only(q.Status.Allocated, *group.Spec.MinResources), q.Spec.Capability
	if e.Reason != string(reason.OverCapability) {
		return
	}
	asked, held, may := (*group.Spec.MinResources)[GPU], q.Status.Allocated[GPU], q.Spec.Capability[GPU]
	left, short := may.DeepCopy(), asked.DeepCopy()
	left.Sub(held)
	short.Sub(left)
	e.Message = fmt.Sprintf("queue %s may hold %s %s: %s held, %s asked", q.Name, &may, GPU, &held, &asked)
	e.Short = []schedulingv1beta1.Shortage{{Resource: GPU, Scope: "queue", Asked: asked.String(), Available: left.String(), ShortBy: short.String()}}
}

// only are the amounts of what others name, too.
func only(amounts, others corev1.ResourceList) corev1.ResourceList {
	some := corev1.ResourceList{}
	for name, amount := range amounts {
		if _, named := others[name]; named {
			some[name] = amount
		}
	}
	return some
}

// asks is what the containers of a pod ask for together.
func asks(spec *corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range spec.Containers {
		add(sum, spec.Containers[i].Resources.Requests)
	}
	return sum
}

func add(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name].DeepCopy()
		total.Add(amount)
		sum[name] = total
	}
}
