package sim

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

// checkJobDeletion checks that controllers delete a job only after its time to live. A flow may delete its jobs earlier.
// The check is skipped after a clock jump.
func (w *World) checkJobDeletion(l *link, r *apiserver.Request) {
	if len(w.coverage["clock jump"]) > 0 {
		return
	}
	job := w.jobNamed(r.Namespace, r.Name)
	if job == nil || metav1.GetControllerOf(job) != nil || !meetsPreconditions(r.Preconditions, job) {
		return // the API server rejects the request, or a flow owns the job
	}
	if end, isLimited := lifetimeEnd(job); !isLimited || w.now.Before(end) {
		w.fail("%s deletes job %s too early; it has been %s since %s", l.user, job.Name, job.Status.State.Phase, job.Status.State.LastTransitionTime)
	}
}

// meetsPreconditions reports whether a job has the UID and the version that a request requires.
func meetsPreconditions(required *metav1.Preconditions, job *batchv1alpha1.Job) bool {
	if required == nil {
		return true
	}
	hasUID := required.UID == nil || *required.UID == job.UID
	hasVersion := required.ResourceVersion == nil || *required.ResourceVersion == job.ResourceVersion
	return hasUID && hasVersion
}

// lifetimeEnd returns when an ended job is to be deleted. It returns false if the job is to be kept.
func lifetimeEnd(job *batchv1alpha1.Job) (time.Time, bool) {
	ttl := job.Spec.TTLSecondsAfterFinished
	if ttl == nil || !isSettledPhase(job.Status.State.Phase) {
		return time.Time{}, false
	}
	return job.Status.State.LastTransitionTime.Add(time.Duration(*ttl) * time.Second), true
}

// lifetimeGrace is how long after its time to live an ended job may still exist at rest. It is longer than a jump of a
// clock.
const lifetimeGrace = 5 * time.Minute

// checkLifetimes checks, at rest, that no ended job exists longer than its time to live, and that ended jobs have no
// objects of plugins. Jobs on which others may depend are kept.
func (w *World) checkLifetimes() {
	isAwaited := false
	for _, job := range w.state.jobs {
		isAwaited = isAwaited || job.Annotations[keys.Dependency] != ""
	}
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		job := w.state.jobs[name]
		end, isLimited := lifetimeEnd(job)
		if isLimited && !isAwaited && w.now.Sub(end) > lifetimeGrace {
			w.fail("job %s is %s and still exists, although its time to live ended %s ago", job.Name, job.Status.State.Phase, w.now.Sub(end))
		}
	}
	for _, kind := range []string{"Service", "ConfigMap"} {
		gvk := corev1.SchemeGroupVersion.WithKind(kind)
		for _, o := range w.objectsAt(gvk, len(w.changes[gvk])) {
			job := w.ownerOf(o)
			mayBeCreatedLate := w.checks.lateCreates[describeObject(gvk, o.GetNamespace(), o.GetName())]
			if job != nil && slices.Contains(finalPhases, job.Status.State.Phase) && !mayBeCreatedLate {
				w.fail("job %s is %s, but its %s %s still exists", job.Name, job.Status.State.Phase, kind, o.GetName())
			}
		}
	}
}

// ownerOf returns the job that controls an object, or nil.
func (w *World) ownerOf(o metav1.Object) *batchv1alpha1.Job {
	owner := metav1.GetControllerOf(o)
	if owner == nil {
		return nil
	}
	job := w.jobNamed(o.GetNamespace(), owner.Name)
	if job == nil || job.UID != owner.UID {
		return nil
	}
	return job
}

// jobNamed returns a job, or nil.
func (w *World) jobNamed(namespace, name string) *batchv1alpha1.Job {
	return w.state.jobs[types.NamespacedName{Namespace: namespace, Name: name}]
}
