package state

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// Pods sums up the pods of a job, or of one element of an array.
type Pods struct {
	// Nodes are those that hold or held them, sorted, each once.
	Nodes []string
	// Live have not ended; of these Bound have a node, and of those Started run. Ended have ended.
	Live, Bound, Started, Ended int
	// CannotStart: an image cannot be pulled, or a container not be created.
	CannotStart bool
	// End is how the first pod ended that ended badly; empty when none did.
	End Code
	// Exit is that of the head: of its pod, else of the first pod that failed.
	Exit Exit
	// Highest is the highest exit of all of them.
	Highest Exit
	// Begin and Finish are when the first started and the last ended; zero when none has.
	Begin, Finish time.Time
}

// Summarize sums up pods; those that are being deleted count as what they are until they are gone.
func Summarize(pods []*corev1.Pod) *Pods {
	s := &Pods{}
	var head *corev1.Pod
	for _, pod := range pods {
		s.add(pod)
		if pod.Labels[keys.TaskSpec] == headTask && pod.Status.Phase != corev1.PodPending {
			head = pod
		}
	}
	if head != nil && over(head) {
		s.Exit = exitOf(head)
	}
	slices.Sort(s.Nodes)
	s.Nodes = slices.Compact(s.Nodes)
	return s
}

// Promised is the node that the scheduler empties for a pod that waits; empty when there is none.
func Promised(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || pod.Status.Phase != corev1.PodPending && pod.Status.Phase != "" {
		return ""
	}
	return pod.Status.NominatedNodeName
}

// headTask is the task whose one pod runs the batch script.
const headTask = "head"

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (s *Pods) add(pod *corev1.Pod) {
	if node := pod.Spec.NodeName; node != "" {
		s.Nodes = append(s.Nodes, node)
	}
	if start := startOf(pod); !start.IsZero() && (s.Begin.IsZero() || start.Before(s.Begin)) {
		s.Begin = start
	}
	if !over(pod) {
		s.Live++
		if pod.Spec.NodeName != "" {
			s.Bound++
		}
		if pod.Status.Phase == corev1.PodRunning {
			s.Started++
		}
		s.CannotStart = s.CannotStart || cannotStart(pod)
		return
	}
	s.Ended++
	if end := finishOf(pod); end.After(s.Finish) {
		s.Finish = end
	}
	if pod.Status.Phase != corev1.PodFailed {
		return
	}
	exit := exitOf(pod)
	if s.End == "" {
		s.End, s.Exit = failureOf(pod), exit
	}
	if exit.status() > s.Highest.status() {
		s.Highest = exit
	}
}

// failureOf is how a failed pod ended.
func failureOf(pod *corev1.Pod) Code {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			if c.Reason == corev1.PodReasonPreemptionByScheduler {
				return Preempted
			}
			return NodeFail
		}
	}
	switch pod.Status.Reason {
	case "DeadlineExceeded":
		return Timeout
	case "NodeLost", "Evicted", "NodeAffinity", "Shutdown", "NodeShutdown", "Terminated", "UnexpectedAdmissionError":
		return NodeFail
	}
	switch end := badEnd(pod); {
	case end == nil:
		return Failed
	case end.Reason == "OOMKilled", exitOf(pod) == NoMemory:
		return OutOfMemory
	case end.ExitCode == launch.ExitCancelled && pod.Labels[keys.JobID] != "":
		return Cancelled // the script cancelled its own job
	case end.Reason == "NodeStopped", end.Reason == "ContainerStatusUnknown":
		return NodeFail
	case end.Reason == "StartError", end.Reason == "ContainerCannotRun":
		return BootFail
	}
	return Failed
}

// badEnd is the end of the first container that ended badly.
func badEnd(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if t := statuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
				return t
			}
		}
	}
	return nil
}

// stuck are the reasons of a container that waits for what will not come by itself.
var stuck = []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

func cannotStart(pod *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if w := statuses[i].State.Waiting; w != nil && slices.Contains(stuck, w.Reason) {
				return true
			}
		}
	}
	return false
}

func startOf(pod *corev1.Pod) time.Time {
	var first time.Time
	for i := range pod.Status.ContainerStatuses {
		s := &pod.Status.ContainerStatuses[i].State
		var at time.Time
		switch {
		case s.Running != nil:
			at = s.Running.StartedAt.Time
		case s.Terminated != nil:
			at = s.Terminated.StartedAt.Time
		}
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() && pod.Status.StartTime != nil && pod.Status.Phase != corev1.PodPending {
		first = pod.Status.StartTime.Time
	}
	return first
}

func finishOf(pod *corev1.Pod) time.Time {
	var last time.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	return last
}
