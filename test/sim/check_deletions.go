package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/podtermination"
	"github.com/vc-batch/vc/test/apiserver"
)

// checkDeletion checks, when controllers send the deletion of a pod or command, that the job's status contains the reason
// or the effect. So a crash after the deletion loses nothing, and no work is repeated without a reason.
func (w *World) checkDeletion(l *link, r *apiserver.Request) {
	replica := w.replicaOf(l.process)
	if replica == nil || replica.lease != controllersLease || r.Verb != apiserver.Delete {
		return
	}
	switch r.Kind {
	case podKind:
		w.checkPodDeletion(l, r)
	case commandKind:
		w.checkCommandDeletion(l, r)
	case jobKind:
		w.checkJobDeletion(l, r)
	}
}

// checkCommandDeletion checks that the status of a job contains the effect of a command that is deleted.
func (w *World) checkCommandDeletion(l *link, r *apiserver.Request) {
	command := w.findCommand(r.Namespace, r.Name)
	if command == nil || !slices.Contains(endingActions, busv1alpha1.Action(command.Action)) {
		return
	}
	target := command.TargetObject
	if target == nil || target.Kind != jobKind.Kind {
		return
	}
	job := w.state.jobs[types.NamespacedName{Namespace: r.Namespace, Name: target.Name}]
	if job == nil || job.UID != target.UID || job.DeletionTimestamp != nil {
		return
	}
	if isActivePhase(job.Status.State.Phase) {
		w.fail("%s deletes the command %s, but job %s is %s", l.user, command.Action, job.Name, job.Status.State.Phase)
	}
}

// findCommand returns a command, or nil.
func (w *World) findCommand(namespace, name string) *busv1alpha1.Command {
	for _, o := range w.objectsAt(commandKind, len(w.changes[commandKind])) {
		if o.GetNamespace() == namespace && o.GetName() == name {
			return o.(*busv1alpha1.Command)
		}
	}
	return nil
}

// endingActions are the actions after which a job is neither pending nor running for a while.
var endingActions = []busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.RestartJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction}

func isActivePhase(phase batchv1alpha1.JobPhase) bool {
	return phase == "" || phase == batchv1alpha1.Pending || phase == batchv1alpha1.Running
}

func (w *World) checkPodDeletion(l *link, r *apiserver.Request) {
	pod := w.pod(r.Namespace, r.Name)
	if pod == nil || !isForPod(r, pod) {
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

// isForPod reports whether a deletion applies to a pod: its preconditions name no UID, or the UID of the pod.
func isForPod(r *apiserver.Request, pod *corev1.Pod) bool {
	if r.Preconditions == nil || r.Preconditions.UID == nil {
		return true
	}
	return *r.Preconditions.UID == pod.UID
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
	case isActivePhase(job.Status.State.Phase):
		return isOutdated
	}
	return !isFinished(pod) || w.now.Sub(podtermination.FinishTime(pod)) < endGrace // an ended job keeps its ended pods
}

// checkPlace checks that a new pod does not get the place of a pod that has not ended, and that its gang was admitted.
func (c *checks) checkPlace(pod *corev1.Pod) {
	owner := metav1.GetControllerOf(pod)
	name, index, _, ok := plan.ParsePodIdentity(pod)
	if owner == nil || !ok {
		return
	}
	group := c.world.state.groups[types.NamespacedName{Namespace: pod.Namespace, Name: keys.PodGroupOf(pod.Annotations)}]
	if group != nil && !c.world.wasEverAdmitted(group) {
		c.world.fail("pod %s was created before its PodGroup was admitted", pod.Name)
	}
	for _, other := range c.world.state.pods {
		if other.UID == pod.UID || !isOwnedBy(other, owner.UID) {
			continue
		}
		otherName, otherIndex, _, ok := plan.ParsePodIdentity(other)
		isSamePlace := ok && otherName == name && otherIndex == index
		if isSamePlace && !isFinished(other) {
			c.world.fail("pod %s has the same place as pod %s, which has not ended", pod.Name, other.Name)
		}
	}
}

// wasEverAdmitted reports whether a PodGroup is or was admitted. A gang that is evicted as a whole has to be admitted
// again, and some of its pods may be created before the controllers see this.
func (w *World) wasEverAdmitted(group *schedulingv1beta1.PodGroup) bool {
	if plan.IsGroupAdmitted(group) {
		return true
	}
	return slices.ContainsFunc(w.changes[w.kindOf(group)], func(c apiserver.Change) bool {
		other, ok := c.Object.(*schedulingv1beta1.PodGroup)
		return ok && other.UID == group.UID && plan.IsGroupAdmitted(other)
	})
}

func isOwnedBy(pod *corev1.Pod, uid types.UID) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.UID == uid
}
