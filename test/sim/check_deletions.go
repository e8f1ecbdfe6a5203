package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/podtermination"
	"github.com/vc-batch/vc/test/apiserver"
)

// checkDeletion checks, when controllers send the deletion of a pod, that the job's status contains the reason. So a
// crash after the deletion does not lose the reason, and no work is repeated without a reason.
func (w *World) checkDeletion(l *link, r *apiserver.Request) {
	replica := w.replicaOf(l.process)
	if replica == nil || replica.lease != controllersLease || r.Verb != apiserver.Delete || r.Kind != podKind {
		return
	}
	pod := w.pod(r.Namespace, r.Name)
	if pod == nil || r.Preconditions != nil && r.Preconditions.UID != nil && *r.Preconditions.UID != pod.UID {
		return
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return
	}
	job := w.state.jobs[types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}]
	if job == nil || job.UID != owner.UID || job.DeletionTimestamp != nil {
		return
	}
	if isPlaceOf(pod, job) && !w.mayStop(pod, job) {
		w.fail("%s deletes pod %s (%s) of job %s, which is %s", l.user, pod.Name, pod.Status.Phase, job.Name, job.Status.State.Phase)
	}
}

// controllersLease is the lease of the controllers.
const controllersLease = "vc-controller-manager"

// endGrace is how long after its end a pod may still be deleted because the controllers believe that it is running. They
// may have received the end late, or have made their plan before it.
const endGrace = time.Minute

// mayStop reports whether the status of a job explains why one of its pods is deleted.
func (w *World) mayStop(pod *corev1.Pod, job *batchv1alpha1.Job) bool {
	_, _, version, _ := plan.ParsePodIdentity(pod)
	isOutdated := version < job.Status.Version
	switch {
	case plan.IsMarkedOutOfSync(pod), plan.WasRejectedByNode(pod), pod.DeletionTimestamp != nil:
		return true
	case job.Status.State.Phase == batchv1alpha1.Restarting:
		return isOutdated || job.Status.ControlledResources["restart-target"] != ""
	case slices.Contains([]batchv1alpha1.JobPhase{"", batchv1alpha1.Pending, batchv1alpha1.Running}, job.Status.State.Phase):
		return isOutdated
	}
	return !isFinished(pod) || w.now.Sub(podtermination.FinishTime(pod)) < endGrace // an ended job keeps its ended pods
}

// checkPlace checks that a new pod does not get the place of a pod that has not ended.
func (c *checks) checkPlace(pod *corev1.Pod) {
	owner := metav1.GetControllerOf(pod)
	name, index, _, ok := plan.ParsePodIdentity(pod)
	if owner == nil || !ok {
		return
	}
	for _, other := range c.world.state.pods {
		if other.UID == pod.UID || !isOwnedBy(other, owner.UID) {
			continue
		}
		if otherName, otherIndex, _, ok := plan.ParsePodIdentity(other); ok && otherName == name && otherIndex == index && !isFinished(other) {
			c.world.fail("pod %s has the same place as pod %s, which has not ended", pod.Name, other.Name)
		}
	}
}

func isOwnedBy(pod *corev1.Pod, uid types.UID) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == uid
}
