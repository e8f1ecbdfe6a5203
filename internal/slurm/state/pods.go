package state

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Pods summarizes the pods of a job or of one element of an array.
type Pods struct {
	// Nodes lists the nodes of the pods, sorted and without duplicates.
	Nodes []string
	// Live is the number of pods that have not ended. Of these, Bound have a node and Started are running. Ended is
	// the number of pods that have ended.
	Live, Bound, Started, Ended int
	// CannotStart is true if an image cannot be pulled or a container cannot be created.
	CannotStart bool
	// End is the final state of the first failed pod. It is empty if no pod has failed.
	End Code
	// Exit is the Exit of the head pod or, if the head pod has not ended, of the first failed pod.
	Exit Exit
	// Highest is the highest Exit of all pods.
	Highest Exit
	// Begin is the time when the first pod started, or zero if none has started. Finish is the time when the last pod
	// ended, or zero if none has ended.
	Begin, Finish time.Time
}

// isStarting reports whether pods have nodes, but none of the pods has started or ended.
func (p *Pods) isStarting() bool {
	return p.Live > 0 && p.Bound > 0 && p.Started+p.Ended == 0
}

// SummarizePods returns a summary of pods. Pods that are being deleted are counted according to their current status.
func SummarizePods(pods []*corev1.Pod) *Pods {
	s := &Pods{}
	var head *corev1.Pod
	for _, pod := range pods {
		s.addPod(pod)
		if pod.Labels[keys.TaskSpec] == headTask && pod.Status.Phase != corev1.PodPending {
			head = pod
		}
	}
	if head != nil && hasFinished(head) {
		s.Exit = podExit(head)
	}
	slices.Sort(s.Nodes)
	s.Nodes = slices.Compact(s.Nodes)
	return s
}

// NominatedNode returns the node on which the scheduler is freeing resources for a pending pod, or "" if none exists.
func NominatedNode(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" || (pod.Status.Phase != corev1.PodPending && pod.Status.Phase != "") {
		return ""
	}
	return pod.Status.NominatedNodeName
}

// headTask is the task whose only pod runs the batch script.
const headTask = "head"

func hasFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func (s *Pods) addPod(pod *corev1.Pod) {
	if node := pod.Spec.NodeName; node != "" {
		s.Nodes = append(s.Nodes, node)
	}
	if start := podStartTime(pod); !start.IsZero() && (s.Begin.IsZero() || start.Before(s.Begin)) {
		s.Begin = start
	}
	if !hasFinished(pod) {
		s.Live++
		if pod.Spec.NodeName != "" {
			s.Bound++
		}
		if pod.Status.Phase == corev1.PodRunning {
			s.Started++
		}
		s.CannotStart = s.CannotStart || isUnableToStart(pod)
		return
	}
	s.Ended++
	if end := podFinishTime(pod); end.After(s.Finish) {
		s.Finish = end
	}
	if pod.Status.Phase != corev1.PodFailed {
		return
	}
	exit := podExit(pod)
	if s.End == "" {
		s.End, s.Exit = failureCode(pod), exit
	}
	if exit.shellStatus() > s.Highest.shellStatus() {
		s.Highest = exit
	}
}

// failureCode returns the final state of a failed pod.
func failureCode(pod *corev1.Pod) Code {
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
	switch end := failedTermination(pod); {
	case end == nil:
		return Failed
	case end.Reason == "OOMKilled", podExit(pod) == NoMemory:
		return OutOfMemory
	case hasCancelledItself(pod.Labels, end.ExitCode):
		return Cancelled
	case end.Reason == "NodeStopped", end.Reason == "ContainerStatusUnknown":
		return NodeFail
	case end.Reason == "StartError", end.Reason == "ContainerCannotRun":
		return BootFail
	}
	return Failed
}

// failedTermination returns the termination state of the first container that failed, or nil if none failed.
func failedTermination(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if t := statuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
				return t
			}
		}
	}
	return nil
}

// stuck lists the reasons why a container is waiting if it cannot start unless a user or an administrator changes
// something.
var stuck = []string{"ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

func isUnableToStart(pod *corev1.Pod) bool {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if w := statuses[i].State.Waiting; w != nil && slices.Contains(stuck, w.Reason) {
				return true
			}
		}
	}
	return false
}

func podStartTime(pod *corev1.Pod) time.Time {
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

func podFinishTime(pod *corev1.Pod) time.Time {
	var last time.Time
	for i := range pod.Status.ContainerStatuses {
		if t := pod.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(last) {
			last = t.FinishedAt.Time
		}
	}
	return last
}

// hasCancelledItself reports whether a batch script cancelled its own job or array element. In that case, the launcher
// exits with ExitCancelled. Only jobs with a number have a launcher.
func hasCancelledItself(labels map[string]string, exitCode int32) bool {
	return exitCode == launchconfig.ExitCancelled && labels[keys.JobID] != ""
}
