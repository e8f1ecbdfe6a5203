package sim

import (
	"cmp"
	"slices"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// demand is what some pods request at the same time, in thousandths of a CPU.
type demand struct {
	pods           int64
	total, largest int64
}

func (d *demand) add(milliCPU int64) {
	d.pods++
	d.total += milliCPU
	d.largest = max(d.largest, milliCPU)
}

// minimumOf returns the most that the pods with which a job may start can request. These pods are any minAvailable of its
// pods. If minAvailable is at least the sum of the tasks' minimums, they include the minimum of each task.
func minimumOf(job *batchv1alpha1.Job) demand {
	var d demand
	var others []int64
	left, hasTaskMinimums := minAvailableOf(job), !hasDependencies(job) && minAvailableOf(job) >= sumOfTaskMinimums(job)
	for i := range job.Spec.Tasks {
		task, needed := &job.Spec.Tasks[i], int32(0)
		if hasTaskMinimums {
			needed = taskMinimum(task)
		}
		for pod := range task.Replicas {
			if pod < needed {
				d.add(requestOfTask(task))
				left--
			} else {
				others = append(others, requestOfTask(task))
			}
		}
	}
	slices.SortFunc(others, func(x, y int64) int { return cmp.Compare(y, x) })
	for _, milliCPU := range others[:max(0, min(int(left), len(others)))] {
		d.add(milliCPU)
	}
	return d
}

// minAvailableOf returns the number of pods that a job needs to start. A job whose minimum is 0 starts with its first pod.
func minAvailableOf(job *batchv1alpha1.Job) int32 {
	return max(1, cmp.Or(job.Spec.MinAvailable, sumOfTaskMinimums(job)))
}

func sumOfTaskMinimums(job *batchv1alpha1.Job) int32 {
	sum := int32(0)
	for i := range job.Spec.Tasks {
		sum += taskMinimum(&job.Spec.Tasks[i])
	}
	return sum
}

func taskMinimum(task *batchv1alpha1.TaskSpec) int32 {
	if task.MinAvailable == nil {
		return task.Replicas
	}
	return *task.MinAvailable
}

// hasDependencies reports whether a task of a job waits for another one. The gang grows when such a task starts.
func hasDependencies(job *batchv1alpha1.Job) bool {
	return slices.ContainsFunc(job.Spec.Tasks, func(task batchv1alpha1.TaskSpec) bool { return task.DependsOn != nil })
}

// requestOfTask returns the CPU request of a pod of a task, in thousandths.
func requestOfTask(task *batchv1alpha1.TaskSpec) int64 {
	return task.Template.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
}

// couldStart reports whether the minimum of a job would start if it were alone in the cluster, in whatever order its pods are
// placed. It is cautious: false means only that the job may have a reason to wait.
func (w *World) couldStart(job *batchv1alpha1.Job) bool { return w.couldRunAlone(job, minimumOf(job)) }

// couldEnd reports whether the minimum of a job would start and all its pods would run, perhaps one after the other, if the
// job were alone in the cluster. It is as cautious as couldStart.
func (w *World) couldEnd(job *batchv1alpha1.Job) bool {
	d := minimumOf(job)
	d.largest = max(d.largest, largestPod(job))
	d.total = max(d.total, d.largest)
	return w.couldRunAlone(job, d)
}

// couldRunAlone reports whether pods of a job could run at the same time if the job were alone in the cluster.
func (w *World) couldRunAlone(job *batchv1alpha1.Job, d demand) bool {
	isEmpty := totalReplicas(job) == 0 // it waits for pods until a user scales it up
	isBlocked := !w.isWithinQuota(job, d) || w.isBlockedByUserObject(job)
	mayNotStart := isInvalid(job) || w.isGated(job)
	if isEmpty || isBlocked || mayNotStart {
		return false
	}
	return w.fitsAlone(cmp.Or(job.Spec.Queue, keys.DefaultQueue), d)
}

// fitsAlone reports whether pods fit into the cluster and their queue if no other pods exist, in whatever order they are
// placed.
func (w *World) fitsAlone(queue string, d demand) bool {
	free := map[string]int64{}
	for name, node := range w.state.nodes {
		free[name] = node.Status.Allocatable.Cpu().MilliValue()
	}
	return !w.exceedsQueue(queue, d.total) && d.fitsInAnyOrder(free) && d.total <= w.capacity()-w.guaranteedToOthers(queue)
}

// fitsInAnyOrder reports whether pods fit into the free CPU of nodes, whatever the order in which they are placed. If a pod
// does not fit, each node that is large enough has less than its request left.
func (d *demand) fitsInAnyOrder(free map[string]int64) bool {
	rest, largeEnough := int64(0), false
	for _, cpu := range free {
		if cpu >= d.largest {
			largeEnough = true
			rest += cpu - d.largest
		}
	}
	return largeEnough && d.total-d.largest <= rest
}

// mayStayUnfinished reports whether a job that has not ended has a reason to stay so. A job that has not started waits if its
// minimum may not fit. A job that has started waits only if some of its pods have not ended and may not fit.
func (w *World) mayStayUnfinished(job *batchv1alpha1.Job) bool {
	if orPending(job.Status.State.Phase) == batchv1alpha1.Pending {
		return !w.couldStart(job)
	}
	return totalReplicas(job) == 0 || (w.hasUnfinishedReplica(job) && !w.couldEnd(job))
}

// hasUnfinishedReplica reports whether a replica of a job has no pod that has ended.
func (w *World) hasUnfinishedReplica(job *batchv1alpha1.Job) bool {
	ended := int32(0)
	for _, pod := range w.state.pods {
		if isOwnedBy(pod, job.UID) && isPlaceOf(pod, job) && isFinished(pod) {
			ended++
		}
	}
	return ended < totalReplicas(job)
}
