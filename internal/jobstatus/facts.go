package jobstatus

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
)

// PhaseOrPending returns the phase of a job; a job without a phase is Pending.
func PhaseOrPending(job *batchv1alpha1.Job) batchv1alpha1.JobPhase {
	if job.Status.State.Phase == "" {
		return batchv1alpha1.Pending
	}
	return job.Status.State.Phase
}

// IsFinishedPhase reports whether a job in this phase has ended permanently. A suspended job can still be resumed.
func IsFinishedPhase(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
		return true
	}
	return false
}

// IsActivePhase reports whether the pods of a job in this phase are running or should be running.
func IsActivePhase(phase batchv1alpha1.JobPhase) bool {
	return !IsFinishedPhase(phase) && phase != batchv1alpha1.Aborted
}

// CountReplicas returns the total number of pods of the job.
func CountReplicas(job *batchv1alpha1.Job) int32 {
	var sum int32
	for i := range job.Spec.Tasks {
		sum += job.Spec.Tasks[i].Replicas
	}
	return sum
}

// MinimumPodsOfTask returns the number of pods of a task that must run; by default, all pods.
func MinimumPodsOfTask(task *batchv1alpha1.TaskSpec) int32 {
	if task.MinAvailable == nil {
		return task.Replicas
	}
	return *task.MinAvailable
}

// MinimumPods returns the number of pods that must run together.
func MinimumPods(job *batchv1alpha1.Job) int32 {
	if job.Spec.MinAvailable > 0 {
		return job.Spec.MinAvailable
	}
	var sum int32
	for i := range job.Spec.Tasks {
		sum += MinimumPodsOfTask(&job.Spec.Tasks[i])
	}
	return sum
}

// CountReadyPods returns the number of pods that are running or have succeeded.
func CountReadyPods(job *batchv1alpha1.Job) int32 { return job.Status.Running + job.Status.Succeeded }

// CountBoundPods returns the number of pods that have a node or have succeeded, according to the job and its PodGroup,
// which may be nil. Pods that have a node but have not started count only if all pods that must run together have a
// node. For a completed job, the result is at least the minimum, because its other pods were no longer needed.
func CountBoundPods(job *batchv1alpha1.Job, group *schedulingv1beta1.PodGroup) int32 {
	n := CountReadyPods(job)
	if PhaseOrPending(job) == batchv1alpha1.Completed {
		return max(n, MinimumPods(job))
	}
	if group == nil || !IsActivePhase(PhaseOrPending(job)) {
		return n
	}
	if e := group.Status.Explanation; e != nil && e.Members != nil {
		n = max(n, e.Members.Running)
	}
	if group.Status.Phase == schedulingv1beta1.PodGroupRunning && !countsNoPods(job) && PhaseOrPending(job) != batchv1alpha1.Restarting {
		n = max(n, min(MinimumPods(job), CountReplicas(job)))
	}
	return n
}

// RequestedGPUs returns the total number of GPUs that the pods of the job request.
func RequestedGPUs(job *batchv1alpha1.Job) int64 {
	var sum int64
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		for _, container := range task.Template.Spec.Containers {
			sum += int64(task.Replicas) * gpusInTask(container.Resources)
		}
	}
	return sum
}

// RequestedCPUAndMemory returns the CPU, in thousandths, and the memory, in bytes, that the pods of the job request. A
// container without a request requests its limit.
func RequestedCPUAndMemory(job *batchv1alpha1.Job) (milliCPU, memoryBytes int64) {
	requestOrLimit := func(r corev1.ResourceRequirements, name corev1.ResourceName) resource.Quantity {
		if amount, ok := r.Requests[name]; ok {
			return amount
		}
		return r.Limits[name]
	}
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		for _, container := range task.Template.Spec.Containers {
			cpu, memory := requestOrLimit(container.Resources, corev1.ResourceCPU), requestOrLimit(container.Resources, corev1.ResourceMemory)
			milliCPU += int64(task.Replicas) * cpu.MilliValue()
			memoryBytes += int64(task.Replicas) * memory.Value()
		}
	}
	return milliCPU, memoryBytes
}

func gpusInTask(resources corev1.ResourceRequirements) int64 {
	var sum int64
	seen := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{resources.Requests, resources.Limits} {
		for name, amount := range list {
			if render.IsGPU(name) && !seen[name] {
				seen[name] = true
				sum += amount.Value()
			}
		}
	}
	return sum
}

// EnteredPhase returns the last time when the job entered a phase.
func EnteredPhase(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase) time.Time {
	var last time.Time
	for _, condition := range job.Status.Conditions {
		if condition.Status == phase && condition.LastTransitionTime != nil {
			last = condition.LastTransitionTime.Time
		}
	}
	if last.IsZero() && job.Status.State.Phase == phase {
		last = job.Status.State.LastTransitionTime.Time
	}
	return last
}

// RunningTime returns how long the job has been running, or ran if it has ended. It returns 0 if the job has not
// started.
func RunningTime(job *batchv1alpha1.Job, now time.Time) time.Duration {
	start := EnteredPhase(job, batchv1alpha1.Running)
	if start.IsZero() {
		return 0
	}
	end := now
	if phase := PhaseOrPending(job); phase != batchv1alpha1.Running && !job.Status.State.LastTransitionTime.IsZero() {
		end = job.Status.State.LastTransitionTime.Time
	}
	return max(0, end.Sub(start))
}

// ShortPod returns the name of a pod without the name of its job: task-index.
func ShortPod(job, pod string) string {
	return strings.TrimPrefix(pod, job+"-")
}

// PluginNames returns the names of the job's plugins, sorted.
func PluginNames(job *batchv1alpha1.Job) []string {
	return slices.Sorted(maps.Keys(job.Spec.Plugins))
}
