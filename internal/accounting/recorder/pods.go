package recorder

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// podHandler passes the states of pods to the Tracker. It enqueues a job when a pod of an earlier attempt has ended.
func (r *Reconciler) podHandler() handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q registration.Queue) {
			r.observePod(ctx, e.Object, false, q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q registration.Queue) {
			r.observePod(ctx, e.ObjectNew, false, q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q registration.Queue) {
			r.observePod(ctx, e.Object, true, q)
		},
	}
}

// deletedJobHandler forgets deleted jobs. A job can stay after its finalizer was removed, for example until its pods are gone,
// and their states then reach the Tracker again.
func (r *Reconciler) deletedJobHandler() handler.EventHandler {
	return handler.Funcs{
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ registration.Queue) { r.forgetJob(e.Object.GetUID()) },
	}
}

// observePod passes the state of a pod to the Tracker. Pods without a job are not recorded.
func (r *Reconciler) observePod(ctx context.Context, object client.Object, isGone bool, q registration.Queue) {
	pod, isPod := object.(*corev1.Pod)
	if !isPod {
		return
	}
	name, uid, isOfJob := podmeasure.JobOf(pod)
	if !isOfJob {
		return
	}
	job := &batchv1alpha1.Job{}
	if err := r.Cache.Get(ctx, name, job, client.UnsafeDisableDeepCopy); err != nil || job.UID != uid {
		if isGone {
			r.Tracker.ForgetPod(pod.UID)
		}
		return
	}
	attempt, isOver := int32(0), true
	if isGone {
		attempt = r.Tracker.ObserveDeletion(job, pod, time.Now())
	} else {
		attempt, isOver = r.Tracker.Observe(job, pod, time.Now())
	}
	if isOver && attempt < job.Attempt() {
		q.Add(reconcile.Request{NamespacedName: name})
	}
	if isGone {
		r.Tracker.ForgetAttempts(uid, r.firstAttemptToRecord(job))
	}
}

// waitsForPods reports whether pods of an earlier attempt of a job are still being stopped. A job that is being deleted
// does not wait, and no job waits long, because a node may be lost.
func (r *Reconciler) waitsForPods(job *batchv1alpha1.Job) bool {
	if job.DeletionTimestamp != nil || len(job.Status.Attempts) == 0 || !r.Tracker.HasOpenPods(job.UID, job.Attempt()) {
		return false
	}
	latest := job.Status.Attempts[len(job.Status.Attempts)-1]
	return time.Since(latest.EndTime.Time) < openPatience
}
