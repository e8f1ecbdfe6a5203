package plan

import (
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// withoutFailed removes the failed pods from a gang that can no longer be complete. Failed pods are not re-created, so
// the pods that still need a node would wait for them forever. If the failed pods are removed, the remaining pods start
// together, and the job ends as if no pod had been lost.
func (b *builder) withoutFailed(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	failed := b.failedByTask()
	if failed == nil || !b.isWithoutNode() || !b.lacksMembers(job, failed) {
		return job
	}
	for task, n := range failed {
		if n > 0 {
			job = b.shrinkTask(job, task, job.Spec.Tasks[task].Replicas-n)
		}
	}
	return job
}

// withoutHeldBack removes the pods that are not created now because their task is waiting for another task again from a
// gang. This happens if both tasks have started and then lost pods. If such pods remained in the gang, the pods of the
// two tasks would wait for each other.
func (b *builder) withoutHeldBack(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	for task := range b.job.Spec.Tasks {
		if b.dependenciesMet(task) {
			continue
		}
		exist := int32(0)
		for m := range b.census.inRange() {
			if m.place.Task == task && !m.gone {
				exist++
			}
		}
		if exist > 0 && exist < job.Spec.Tasks[task].Replicas {
			job = b.shrinkTask(job, task, exist)
		}
	}
	return job
}

// shrinkTask returns the gang with fewer places in one task. The task loses its partitions, because the remaining pods
// of an incomplete partition would never be placed.
func (b *builder) shrinkTask(job *batchv1alpha1.Job, task int, replicas int32) *batchv1alpha1.Job {
	if job == b.job {
		job = b.job.DeepCopy()
	}
	t := &job.Spec.Tasks[task]
	least := minTaskMember(t)
	t.Replicas = max(0, replicas)
	t.MinAvailable, t.PartitionPolicy = new(min(least, t.Replicas)), nil
	return job
}

// failedByTask returns the number of failed pods that are not deleted, by task. It returns nil if no pod has failed.
func (b *builder) failedByTask() (failed []int32) {
	for m := range b.census.inRange() {
		if !m.hasEndedByItself() || m.podPhaseOf() != corev1.PodFailed {
			continue
		}
		if failed == nil {
			failed = make([]int32, len(b.job.Spec.Tasks))
		}
		failed[m.place.Task]++
	}
	return failed
}

// isWithoutNode reports whether any pod is waiting for a node.
func (b *builder) isWithoutNode() bool {
	for m := range b.census.inRange() {
		if !m.isLivePod() || m.stop {
			continue
		}
		isPending := m.podPhaseOf() == corev1.PodPending || m.podPhaseOf() == ""
		if isPending && m.pod.Spec.NodeName == "" {
			return true
		}
	}
	return false
}

// lacksMembers reports whether fewer pods remain than the gang, one of its tasks, or a partition needs.
func (b *builder) lacksMembers(job *batchv1alpha1.Job, failed []int32) bool {
	var possible, gone int32
	for task, n := range failed {
		t := &job.Spec.Tasks[task]
		if !b.mayTaskHavePods(task) {
			continue
		}
		possible, gone = possible+t.Replicas, gone+n
		if n > 0 && (t.PartitionPolicy != nil || minTaskMember(t) > t.Replicas-n) {
			return true
		}
	}
	return min(job.Spec.MinAvailable, possible) > possible-gone
}

// gangForScheduler returns the job as the scheduler should see it. It omits places that need no pod, and pods that the
// gang would wait for in vain.
func (b *builder) gangForScheduler() *batchv1alpha1.Job {
	return b.withoutFailed(b.withoutHeldBack(b.withoutAbsent()))
}

// withoutAbsent returns the job without the places that need no pod.
func (b *builder) withoutAbsent() *batchv1alpha1.Job {
	job := b.job
	for task := range b.job.Spec.Tasks {
		n := b.countRecorded(task)
		gone := n.succeeded + n.failed + n.cancelled
		if gone == 0 {
			continue
		}
		if job == b.job {
			job = b.job.DeepCopy()
		}
		t := &job.Spec.Tasks[task]
		t.Replicas -= gone
		least := taskMinimum(&b.job.Spec.Tasks[task])
		if b.array == nil {
			least -= n.succeeded
			job.Spec.MinAvailable -= n.succeeded
		}
		t.MinAvailable = new(max(0, min(least, t.Replicas)))
	}
	job.Spec.MinAvailable = max(0, job.Spec.MinAvailable)
	return job
}
