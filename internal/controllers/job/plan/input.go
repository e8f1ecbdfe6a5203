package plan

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podlife"
)

// Input is everything a plan follows from. Nothing in it is changed.
type Input struct {
	// Job as it is, defaults filled in or not.
	Job *batch.Job
	// Pods whose controller is this very job (by UID).
	Pods []*corev1.Pod
	// PodGroup of the job; nil when there is none.
	PodGroup *scheduling.PodGroup
	// Queue of the job; nil when it does not exist.
	Queue *scheduling.Queue
	// Claims says which of ClaimNames(Job) exist. It matters only before the PodGroup is made.
	Claims map[string]bool
	// Priorities are the values of the PriorityClasses that the tasks name.
	Priorities map[string]int32
	// Commands for this job, oldest first, read past any cache.
	Commands []*bus.Command
	// Lost are pods that were seen to vanish and were not answered yet.
	Lost []Lost
	// Since says since when the events are seen that the last plan saw and that nothing dates.
	Since map[string]time.Time
	// Killed are pods whose deletion was asked for, whatever a late cache says of them.
	Killed map[types.UID]bool
	// Trouble is why the last try to carry out a plan failed; nil when it did not.
	Trouble *Trouble
	// Numbers says that numbers for jobs are given here, and NumbersFrom since when, or from when on, there are any; NumberTaken that the one that the
	// job has is another's.
	Numbers     bool
	NumbersFrom time.Time
	NumberTaken bool
	// Related are the jobs that this one depends on, those that these depend on, and those of its title; read only while it may wait for them.
	Related []*batch.Job
	// KeepEnded says that jobs stay whatever their ttlSecondsAfterFinished.
	KeepEnded bool
	// Awaited says that a job waits for this one.
	Awaited bool
	// Fresh says that Pods were read past any cache. A plan that rests on missing pods asks for it (Plan.Refresh).
	Fresh bool
	// Doubt says that Pods may be as they were before this process began. Whatever would follow from an event then asks for a second look, too.
	Doubt bool
	// Now is the time of the plan.
	Now time.Time
}

// Lost is a pod that vanished without our doing, evicted or after it had failed.
type Lost struct {
	UID     types.UID
	Name    string
	Task    string
	Index   int32
	Version int32
	// At is when it was told to go, or failed.
	At time.Time
	// Failed: it had failed before; Codes are the exit codes.
	Failed bool
	Codes  []int32
	// Pod is what was last seen of it; nil when nobody looked.
	Pod *corev1.Pod
}

// LostFrom reads a pod that vanished. ok is false when its going is no event: it is no job's pod, we stopped it, or it had succeeded.
func LostFrom(pod *corev1.Pod, now time.Time) (lost Lost, ok bool) {
	task, index, version, ok := PodIdentity(pod)
	if !ok || Marked(pod) || Refused(pod) {
		return Lost{}, false
	}
	lost = Lost{UID: pod.UID, Name: pod.Name, Task: task, Index: index, Version: version, At: now, Pod: pod}
	switch {
	case Evicted(pod):
		if pod.DeletionTimestamp != nil {
			lost.At = podlife.ToldToGo(pod)
		}
		return lost, true
	case pod.Status.Phase == corev1.PodFailed:
		lost.At, lost.Failed, lost.Codes = podlife.FinishedAt(pod), true, exitCodes(pod)
		return lost, true
	}
	return Lost{}, false
}

// Trouble is a write that failed.
type Trouble struct {
	Reason, Message string
	// Hopeless: the API server will never accept it, however often it is tried.
	Hopeless bool
}

// Place is where a pod belongs: a task, by its position in spec.tasks, and an index in it.
type Place struct {
	Task  int
	Index int32
}
