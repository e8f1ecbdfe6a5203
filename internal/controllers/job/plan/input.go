package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podtermination"
)

// Input holds everything that a plan depends on. Compute does not change it.
type Input struct {
	// Job is the current job, with or without its defaults.
	Job *batch.Job
	// Pods are the pods whose controller is this job, by UID.
	Pods []*corev1.Pod
	// PodGroup is the PodGroup of the job, or nil.
	PodGroup *scheduling.PodGroup
	// Queue is the queue of the job; nil if it does not exist.
	Queue *scheduling.Queue
	// Claims reports which of ClaimNames(Job) exist. It matters only before the PodGroup is created.
	Claims map[string]bool
	// Priorities maps the PriorityClasses of the tasks to their values.
	Priorities map[string]int32
	// Commands are the commands for this job, oldest first, read past any cache.
	Commands []*bus.Command
	// Lost are pods that vanished and that no plan has handled yet.
	Lost []Lost
	// Reports are the termination messages of pods that vanished and that the status may not contain yet.
	Reports []Report
	// Since holds the times at which undated events were first observed, as returned by the last plan.
	Since map[string]time.Time
	// Killed holds the pods that this process has deleted; the cache may not show their deletion yet.
	Killed map[types.UID]bool
	// Trouble is the error of the last attempt to carry out a plan; nil if it succeeded.
	Trouble *Trouble
	// Numbers reports whether this cluster numbers jobs. NumbersFrom is when numbers are available. NumberTaken reports
	// that another job has the number of this one.
	Numbers     bool
	NumbersFrom time.Time
	NumberTaken bool
	// Related are the jobs that this job depends on, the jobs that these depend on, and the jobs with the same title.
	// They are read only while the job may wait for them.
	Related []*batch.Job
	// KeepEnded keeps ended jobs regardless of their ttlSecondsAfterFinished.
	KeepEnded bool
	// Awaited reports that another job waits for this one.
	Awaited bool
	// Fresh reports that Pods were read past any cache. A plan that depends on missing pods requests that
	// (Plan.Refresh).
	Fresh bool
	// Doubt reports that Pods may be older than this process. Each response to an event then requires Fresh, too.
	Doubt bool
	// Now is the time of the plan.
	Now time.Time
}

// Lost is a pod that vanished although this controller did not delete it: it was evicted, or deleted after it had
// failed.
type Lost struct {
	UID     types.UID
	Name    string
	Task    string
	Index   int32
	Version int32
	// At is when it was deleted, or when it failed.
	At time.Time
	// Failed reports that the pod had failed before it was deleted; Codes are the exit codes of its containers.
	Failed bool
	Codes  []int32
	// Pod is the last observed state of the pod, or nil.
	Pod *corev1.Pod
}

// LostFrom describes a vanished pod. ok is false if its end is not an event: the pod did not belong to a job, the
// controller stopped it, its node refused it, or it had succeeded.
func LostFrom(pod *corev1.Pod, now time.Time) (lost Lost, ok bool) {
	task, index, version, ok := PodIdentity(pod)
	if !ok || Marked(pod) || Refused(pod) {
		return Lost{}, false
	}
	lost = Lost{UID: pod.UID, Name: pod.Name, Task: task, Index: index, Version: version, At: now, Pod: pod}
	switch {
	case Evicted(pod):
		if pod.DeletionTimestamp != nil {
			lost.At = podtermination.ToldToGo(pod)
		}
		return lost, true
	case pod.Status.Phase == corev1.PodFailed:
		lost.At, lost.Failed, lost.Codes = podtermination.FinishedAt(pod), true, exitCodes(pod)
		return lost, true
	}
	return Lost{}, false
}

// Trouble describes a failed write.
type Trouble struct {
	Reason, Message string
	// Hopeless reports that the API server will never accept the write, however often it is retried.
	Hopeless bool
}

// Place identifies a pod of a job: a task, by its position in spec.tasks, and an index in that task.
type Place struct {
	Task  int
	Index int32
}
