package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// maxStartDelay is how long a job may wait after everything that blocked it has gone. Retries of controllers, and the time
// for which a gang that cannot start holds up others, are shorter.
const maxStartDelay = 3 * time.Minute

// checkWaiting records, after faults have stopped, which jobs wait although they could start now, or although their queue
// has less than its guarantee, and fails if one waits for too long.
func (w *World) checkWaiting() {
	if !w.calm {
		return
	}
	waiting := w.waitingJobs()
	for _, job := range waiting {
		w.checkWaitingFor(job, "could start", w.couldStartNow(job, waiting))
		w.checkWaitingFor(job, "is within the guarantee of its queue", w.isWithinGuarantee(job, waiting))
	}
}

// checkWaitingFor fails if a condition has been true for a waiting job without interruption for too long.
func (w *World) checkWaitingFor(job *batchv1alpha1.Job, text string, holds bool) {
	key := waitKey{job.UID, text}
	since, known := w.checks.waiting[key]
	switch {
	case !holds:
		delete(w.checks.waiting, key)
	case !known:
		w.checks.waiting[key] = w.now
	case w.now.Sub(since) > maxStartDelay:
		w.fail("job %s %s, but has been pending for %s although this was true; its PodGroup: %s", job.Name, text, maxStartDelay, w.describeGroupOf(job))
	}
}

// waitKey identifies a condition that should let a job start.
type waitKey struct {
	job  types.UID
	text string
}

// waitingJobs returns the jobs that may start and wait for their first pod to be placed.
func (w *World) waitingJobs() []*batchv1alpha1.Job {
	var waiting []*batchv1alpha1.Job
	for _, name := range slices.SortedFunc(maps.Keys(w.state.jobs), compareNames) {
		job := w.state.jobs[name]
		isWaiting := orPending(job.Status.State.Phase) == batchv1alpha1.Pending && job.DeletionTimestamp == nil
		if isWaiting && !w.isGated(job) && !w.hasPlacedPod(job) {
			waiting = append(waiting, job)
		}
	}
	return waiting
}

// hasPlacedPod reports whether a pod of a job is or was assigned to a node.
func (w *World) hasPlacedPod(job *batchv1alpha1.Job) bool {
	for _, pod := range w.state.pods {
		if isOwnedBy(pod, job.UID) && pod.Spec.NodeName != "" {
			return true
		}
	}
	return false
}

// couldStartNow reports whether the minimum of a job fits beside the existing pods, whatever the order in which its pods are
// placed, and no other gang waits that could also start some day. It is cautious: false means only that the job may have a
// reason to wait.
func (w *World) couldStartNow(job *batchv1alpha1.Job, waiting []*batchv1alpha1.Job) bool {
	minimum := minimumOf(job)
	mayHavePods := w.couldStart(job) && !w.isNameInUse(job) && w.hasFreeQuota(job, minimum)
	if !mayHavePods || w.hasRivals(job, waiting) {
		return false
	}
	queue := cmp.Or(job.Spec.Queue, keys.DefaultQueue)
	for name := queue; name != ""; name = w.parentOf(name) {
		capability, limited := w.state.queues[name].Spec.Capability[corev1.ResourceCPU]
		if limited && w.checks.heldBy(name)+minimum.total > capability.MilliValue() {
			return false
		}
	}
	free := map[string]int64{}
	sum := int64(0)
	for name, node := range w.state.nodes {
		free[name] = node.Status.Allocatable.Cpu().MilliValue() - w.requestedOn(name)
		sum += free[name]
	}
	return minimum.fitsInAnyOrder(free) && minimum.total <= sum-w.unusedGuarantees(queue)
}

// isNameInUse reports whether a pod of an earlier job still has the name of one of the job's pods.
func (w *World) isNameInUse(job *batchv1alpha1.Job) bool {
	for _, pod := range w.state.pods {
		isOfEarlierJob := pod.Namespace == job.Namespace && pod.Annotations[keys.JobName] == job.Name && !isOwnedBy(pod, job.UID)
		if isOfEarlierJob {
			return true
		}
	}
	return false
}

// largestPod returns the largest CPU request of a job's pods, in thousandths.
func largestPod(job *batchv1alpha1.Job) int64 {
	largest := int64(0)
	for i := range job.Spec.Tasks {
		largest = max(largest, requestOfTask(&job.Spec.Tasks[i]))
	}
	return largest
}

// unusedGuarantees returns the CPU that is reserved for other queues and that these do not use.
func (w *World) unusedGuarantees(queue string) int64 {
	sum := int64(0)
	for name, other := range w.state.queues {
		if name != queue {
			sum += max(0, other.Spec.Guarantee.Resource.Cpu().MilliValue()-w.checks.heldBy(name))
		}
	}
	return sum
}

// hasRivals reports whether another gang or pod waits that may be placed before a job. Jobs that can certainly never
// start are no rivals, because they must not block others.
func (w *World) hasRivals(job *batchv1alpha1.Job, waiting []*batchv1alpha1.Job) bool {
	impossible := map[types.UID]bool{}
	for _, other := range waiting {
		if w.isImpossible(other) {
			impossible[other.UID] = true
		} else if other != job {
			return true
		}
	}
	for _, pod := range w.state.pods {
		isWaiting := pod.Spec.NodeName == "" && !isFinished(pod)
		isHopeless := w.belongsTo(pod, impossible) || w.isOfIncompleteGroup(pod)
		if isWaiting && !isHopeless && !isOwnedBy(pod, job.UID) {
			return true
		}
	}
	own := types.NamespacedName{Namespace: job.Namespace, Name: plan.GroupName(job)}
	for name, group := range w.state.groups {
		hasOwner := len(group.OwnerReferences) > 0
		isWaiting := group.Status.Phase == schedulingv1beta1.PodGroupPending || group.Status.Phase == schedulingv1beta1.PodGroupInqueue
		isForeign := name != own && !hasOwner
		if isForeign && isWaiting && w.countPodsOf(name) >= int(group.Spec.MinMember) {
			return true
		}
	}
	return false
}

// belongsTo reports whether a pod belongs to one of these jobs.
func (w *World) belongsTo(pod *corev1.Pod, jobs map[types.UID]bool) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(jobs)), func(uid types.UID) bool { return isOwnedBy(pod, uid) })
}

// isOfIncompleteGroup reports whether the PodGroup of a pod has too few pods, and no controller that creates more.
func (w *World) isOfIncompleteGroup(pod *corev1.Pod) bool {
	name := types.NamespacedName{Namespace: pod.Namespace, Name: keys.PodGroupOf(pod.Annotations)}
	group := w.state.groups[name]
	return group != nil && len(group.OwnerReferences) == 0 && w.countPodsOf(name) < int(group.Spec.MinMember)
}

// countPodsOf returns the number of pods of a PodGroup.
func (w *World) countPodsOf(group types.NamespacedName) int {
	count := 0
	for _, pod := range w.state.pods {
		if pod.Namespace == group.Namespace && keys.PodGroupOf(pod.Annotations) == group.Name {
			count++
		}
	}
	return count
}

// isImpossible reports whether a job can certainly never start: the nodes do not have enough room for its minimum even if all
// its pods were as small as the smallest one, or its queue or its namespace may not have as much.
func (w *World) isImpossible(job *batchv1alpha1.Job) bool {
	least := int64(job.Spec.MinAvailable)
	if group := w.state.groups[types.NamespacedName{Namespace: job.Namespace, Name: plan.GroupName(job)}]; group != nil {
		least = int64(group.Spec.MinMember)
	}
	smallest := smallestPod(job)
	if smallest == 0 || least == 0 {
		return false
	}
	if quota := w.quota(); quota != nil && quota.Namespace == job.Namespace && !fitsQuota(quota, least, smallest*least) {
		return true
	}
	fitting := int64(0)
	for _, node := range w.state.nodes {
		fitting += node.Status.Allocatable.Cpu().MilliValue() / smallest
	}
	queue := cmp.Or(job.Spec.Queue, keys.DefaultQueue)
	return fitting < least || w.exceedsQueue(queue, smallest*least) || smallest*least > w.capacity()-w.guaranteedToOthers(queue)
}

// smallestPod returns the smallest CPU request of a job's pods, in thousandths.
func smallestPod(job *batchv1alpha1.Job) int64 {
	smallest := largestPod(job)
	for i := range job.Spec.Tasks {
		smallest = min(smallest, requestOfTask(&job.Spec.Tasks[i]))
	}
	return smallest
}

// exceedsQueue reports whether a queue is closed, or an amount of CPU exceeds its capability or the capability of an
// ancestor.
func (w *World) exceedsQueue(name string, milliCPU int64) bool {
	if !w.isOpen(name) {
		return true
	}
	for ; name != ""; name = w.parentOf(name) {
		if capability, limited := w.state.queues[name].Spec.Capability[corev1.ResourceCPU]; limited && milliCPU > capability.MilliValue() {
			return true
		}
	}
	return false
}

// isOpen reports whether a queue exists and is open.
func (w *World) isOpen(name string) bool {
	queue := w.state.queues[name]
	return queue != nil && queue.Status.State == schedulingv1beta1.QueueStateOpen
}

// isWithinGuarantee reports whether the minimum of a job and the pods of its queue are within the queue's guarantee, so that other queues
// must give back what they have borrowed. It is cautious, as couldStartNow is.
func (w *World) isWithinGuarantee(job *batchv1alpha1.Job, waiting []*batchv1alpha1.Job) bool {
	queue := w.state.queues[cmp.Or(job.Spec.Queue, keys.DefaultQueue)]
	if queue == nil || queue.Spec.Guarantee.Resource == nil {
		return false
	}
	minimum := minimumOf(job)
	mayHavePods := w.couldStart(job) && w.hasFreeQuota(job, minimum)
	if !mayHavePods || w.hasRivals(job, w.inQueue(waiting, queue.Name)) {
		return false
	}
	if w.checks.heldBy(queue.Name)+minimum.total > queue.Spec.Guarantee.Resource.Cpu().MilliValue() {
		return false
	}
	for name, other := range w.state.queues {
		if name != queue.Name && other.Spec.Guarantee.Resource != nil && w.checks.heldBy(name) > 0 {
			return false // its gangs can perhaps be evicted only together with its guarantee
		}
	}
	free := map[string]int64{}
	for name, node := range w.state.nodes {
		free[name] = node.Status.Allocatable.Cpu().MilliValue()
	}
	for _, pod := range w.state.pods {
		if pod.DeletionTimestamp != nil && !isFinished(pod) {
			return false // it may still get what this pod holds
		}
		isFixed := pod.Spec.SchedulerName == otherScheduler || w.checks.queueOf(pod) == queue.Name
		if pod.Spec.NodeName != "" && !isFinished(pod) && isFixed {
			free[pod.Spec.NodeName] -= milliCPU(pod)
		}
	}
	return minimum.fitsInAnyOrder(free)
}

// inQueue returns the jobs of a queue.
func (w *World) inQueue(jobs []*batchv1alpha1.Job, queue string) []*batchv1alpha1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1alpha1.Job) bool { return cmp.Or(job.Spec.Queue, keys.DefaultQueue) != queue })
}
