package plan

import (
	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// withoutFailed takes pods that have failed out of a gang that cannot become whole any more. Nobody makes them again, so a pod of it that was
// lost and made again, or one that was not bound yet when they failed, would wait for them for ever. Those that are left start together, and
// the job ends as it would have if nothing had been lost.
func (b *builder) withoutFailed(job *batch.Job) *batch.Job {
	failed := b.failedByTask()
	if failed == nil || !b.lacksNodes() || !b.lacksMembers(job, failed) {
		return job
	}
	for task, n := range failed {
		if n > 0 {
			job = b.shrunk(job, task, job.Spec.Tasks[task].Replicas-n)
		}
	}
	return job
}

// withoutHeldBack takes out of a gang the pods that are not made now, as their task waits for another again: one that had begun and lost pods
// while the other lost some, too. The other would wait for them, and they for it.
func (b *builder) withoutHeldBack(job *batch.Job) *batch.Job {
	for task := range b.job.Spec.Tasks {
		if b.dependenciesMet(task) {
			continue
		}
		exist := int32(0)
		for i := range b.census.members {
			if m := &b.census.members[i]; m.place.Task == task && m.inRange && !m.gone {
				exist++
			}
		}
		if exist > 0 && exist < job.Spec.Tasks[task].Replicas {
			job = b.shrunk(job, task, exist)
		}
	}
	return job
}

// shrunk is a gang of which a task has fewer places. Its partitions do not count: of one that is not whole the rest would never be placed.
func (b *builder) shrunk(job *batch.Job, task int, replicas int32) *batch.Job {
	if job == b.job {
		job = b.job.DeepCopy()
	}
	t := &job.Spec.Tasks[task]
	least := minTaskMember(t)
	t.Replicas = max(0, replicas)
	t.MinAvailable, t.PartitionPolicy = new(min(least, t.Replicas)), nil
	return job
}

// failedByTask counts the pods that have failed and stay; nil: none has.
func (b *builder) failedByTask() (failed []int32) {
	for i := range b.census.members {
		m := &b.census.members[i]
		if !m.inRange || !m.ran() || m.phase() != corev1.PodFailed {
			continue
		}
		if failed == nil {
			failed = make([]int32, len(b.job.Spec.Tasks))
		}
		failed[m.place.Task]++
	}
	return failed
}

// lacksNodes says whether a pod waits for a node.
func (b *builder) lacksNodes() bool {
	for i := range b.census.members {
		m := &b.census.members[i]
		if m.inRange && m.live() && !m.stop && m.pod.Spec.NodeName == "" && (m.phase() == corev1.PodPending || m.phase() == "") {
			return true
		}
	}
	return false
}

// lacksMembers says whether fewer pods are left of a gang, of one of its tasks or of a partition than have to be there.
func (b *builder) lacksMembers(job *batch.Job, failed []int32) bool {
	var possible, gone int32
	for task, n := range failed {
		t := &job.Spec.Tasks[task]
		if !b.starts(task) {
			continue
		}
		possible, gone = possible+t.Replicas, gone+n
		if n > 0 && (t.PartitionPolicy != nil || minTaskMember(t) > t.Replicas-n) {
			return true
		}
	}
	return min(job.Spec.MinAvailable, possible) > possible-gone
}
