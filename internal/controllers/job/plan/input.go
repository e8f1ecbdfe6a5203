package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Input holds everything that a plan depends on. Compute does not change it.
type Input struct {
	// Job is the current job, with or without its defaults.
	Job *batchv1alpha1.Job
	// Pods holds the pods whose controller is this job, matched by UID.
	Pods []*corev1.Pod
	// PodGroup is the PodGroup of the job, or nil.
	PodGroup *schedulingv1beta1.PodGroup
	// Queue is the queue of the job; nil if it does not exist.
	Queue *schedulingv1beta1.Queue
	// Claims states, for each name in ClaimNames(Job), whether the claim exists. It matters only before the PodGroup is
	// created.
	Claims map[string]bool
	// Priorities maps the names of the tasks' PriorityClasses to their values.
	Priorities map[string]int32
	// Commands holds the commands for this job, oldest first, as read from the API server.
	Commands []*busv1alpha1.Command
	// Lost holds the pods that were lost and that no plan has handled yet.
	Lost []Lost
	// Reports holds the termination messages of deleted pods that the status may not contain yet.
	Reports []Report
	// Since holds the times at which undated events were first observed, as returned by the last plan.
	Since map[string]time.Time
	// Killed holds the pods that this process has deleted. The cache may not show that they were deleted yet.
	Killed map[types.UID]bool
	// Trouble describes the error from the last attempt to carry out a plan; nil if it succeeded.
	Trouble *Trouble
	// Numbers reports whether this cluster assigns numbers to jobs. NumbersFrom is the time from which numbers are
	// available. NumberTaken reports whether another job has the number of this job.
	Numbers     bool
	NumbersFrom time.Time
	NumberTaken bool
	// Related holds the jobs that this job depends on, the jobs that those depend on, and the jobs with the same title.
	// They are read only while the job may have to wait for them.
	Related []*batchv1alpha1.Job
	// KeepEnded keeps ended jobs regardless of their ttlSecondsAfterFinished.
	KeepEnded bool
	// Awaited reports whether another job is waiting for this job.
	Awaited bool
	// Fresh reports whether Pods and Commands were read from the API server instead of the cache. A plan that depends on
	// missing pods or commands requests this (Plan.Refresh).
	Fresh bool
	// Doubt reports whether Pods and Commands may be older than this process. If so, every response to an event requires
	// Fresh.
	Doubt bool
	// Now is the time of the plan.
	Now time.Time
}

// Lost is a pod that was evicted, or that another component deleted after the pod had failed.
type Lost struct {
	UID     types.UID
	Name    string
	Task    string
	Index   int32
	Version int32
	// At is the time when the pod was deleted or failed.
	At time.Time
	// Failed reports whether the pod had failed before it was deleted. Codes holds the exit codes of its containers.
	Failed bool
	Codes  []int32
	// Pod is the last observed state of the pod; nil if unknown.
	Pod *corev1.Pod
}

// Trouble describes a failed write.
type Trouble struct {
	Reason, Message string
	// Hopeless reports whether the API server will never accept the write, however often it is retried.
	Hopeless bool
}

// Place identifies a pod of a job by its task, as a position in spec.tasks, and its index in that task.
type Place struct {
	Task  int
	Index int32
}

// Report is the termination message of a deleted pod.
type Report struct {
	UID     types.UID
	Version int32
	batchv1alpha1.PodReport
}
