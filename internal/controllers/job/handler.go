package job

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// coalesce is how long a pod event is delayed, so that it can be handled together with events about other pods of the
// same job.
const coalesce = 20 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// ownerJobRequest returns the job that controls an object.
func ownerJobRequest(o client.Object) (types.UID, reconcile.Request, bool) {
	ref := metav1.GetControllerOfNoCopy(o)
	if ref == nil || ref.Kind != "Job" || ref.APIVersion != batchv1alpha1.GroupVersion.String() {
		return "", reconcile.Request{}, false
	}
	return ref.UID, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Name}}, true
}

// podHandler returns the handler for pod events. It records deleted pods in memory and enqueues the job.
func (r *Reconciler) podHandler() handler.EventHandler {
	wake := func(o client.Object, q queue, tell func(*jobState, *corev1.Pod)) {
		uid, request, ok := ownerJobRequest(o)
		if !ok {
			return
		}
		if known := r.states.findState(uid); known != nil && tell != nil {
			tell(known, o.(*corev1.Pod))
		}
		q.AddAfter(request, coalesce)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { wake(e.Object, q, nil) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if affectsPlan(e.ObjectOld.(*corev1.Pod), e.ObjectNew.(*corev1.Pod)) {
				wake(e.ObjectNew, q, nil)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			wake(e.Object, q, func(m *jobState, pod *corev1.Pod) { m.recordGonePod(pod, r.now()) })
		},
	}
}

// affectsPlan reports whether the difference between two states of a pod may affect a plan.
func affectsPlan(old, pod *corev1.Pod) bool {
	switch {
	case old.Status.Phase != pod.Status.Phase,
		(old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil),
		plan.IsMarkedOutOfSync(old) != plan.IsMarkedOutOfSync(pod),
		len(old.Status.ContainerStatuses) != len(pod.Status.ContainerStatuses),
		len(old.Status.InitContainerStatuses) != len(pod.Status.InitContainerStatuses):
		return true
	}
	differ := func(x, y []corev1.ContainerStatus) bool {
		for i := range x {
			if x[i].Ready != y[i].Ready || x[i].RestartCount != y[i].RestartCount || (x[i].State.Terminated == nil) != (y[i].State.Terminated == nil) {
				return true
			}
		}
		return false
	}
	return differ(old.Status.ContainerStatuses, pod.Status.ContainerStatuses) ||
		differ(old.Status.InitContainerStatuses, pod.Status.InitContainerStatuses)
}

// priorityLetIn is the queue priority of admitted jobs without pods. Jobs that have started are completed before others
// start, so that the first jobs run soon when thousands of jobs are submitted together.
const priorityLetIn = 10

// untilLetIn is the delay before the reconcile that follows the creation of a PodGroup. The PodGroup was usually
// created for the job by this controller, so a reconcile is of little use before the scheduler has admitted the
// PodGroup.
const untilLetIn = 300 * time.Millisecond

// groupHandler returns the handler for PodGroup events, which enqueues the job.
func groupHandler() handler.EventHandler {
	wake := func(o client.Object, q queue, priority int) {
		request, ok := jobOfPodGroup(o)
		if !ok {
			return
		}
		if q, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok && priority != 0 {
			q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request)
			return
		}
		q.Add(request)
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) {
			if request, ok := jobOfPodGroup(e.Object); ok && !plan.IsGroupAdmitted(e.Object.(*schedulingv1beta1.PodGroup)) {
				q.AddAfter(request, untilLetIn)
				return
			}
			wake(e.Object, q, 0)
		},
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			priority := 0
			if !plan.IsGroupAdmitted(e.ObjectOld.(*schedulingv1beta1.PodGroup)) && plan.IsGroupAdmitted(e.ObjectNew.(*schedulingv1beta1.PodGroup)) {
				priority = priorityLetIn
			}
			wake(e.ObjectNew, q, priority)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { wake(e.Object, q, 0) },
	}
}

// jobOfPodGroup returns the job to which a PodGroup belongs. This is the owner of the PodGroup or, if a user created
// it, the job with its name.
func jobOfPodGroup(o client.Object) (reconcile.Request, bool) {
	if _, request, ok := ownerJobRequest(o); ok {
		return request, true
	}
	if metav1.GetControllerOfNoCopy(o) != nil {
		return reconcile.Request{}, false
	}
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}, true
}
