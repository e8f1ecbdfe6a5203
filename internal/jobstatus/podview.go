package jobstatus

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
)

// PodReady returns the number of ready containers and the total number of containers, for example "1/2".
func PodReady(pod *corev1.Pod) string {
	ready := 0
	for _, status := range pod.Status.ContainerStatuses {
		if status.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(pod.Spec.Containers))
}

// PodStatus returns the status that kubectl shows for a pod.
func PodStatus(pod *corev1.Pod) string {
	status := string(pod.Status.Phase)
	if pod.Status.Reason != "" {
		status = pod.Status.Reason
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonSchedulingGated {
			status = corev1.PodReasonSchedulingGated
		}
	}
	if word, waiting := initStatus(pod); waiting {
		status = word
	} else if word := containerStatus(pod); word != "" {
		status = word
	}
	if pod.DeletionTimestamp != nil {
		if pod.Status.Reason == "NodeLost" {
			return "Unknown"
		}
		if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
			return "Terminating"
		}
	}
	return status
}

func isSidecarName(pod *corev1.Pod, name string) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
		return c.Name == name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
}

// initStatus returns the status to show while an init container has not ended.
func initStatus(pod *corev1.Pod) (word string, waiting bool) {
	for i, status := range pod.Status.InitContainerStatuses {
		state := status.State
		switch {
		case state.Terminated != nil && state.Terminated.ExitCode == 0:
			continue
		case isSidecarName(pod, status.Name) && status.Started != nil && *status.Started:
			continue
		case state.Terminated != nil:
			return "Init:" + terminatedWord(state.Terminated), true
		case state.Waiting != nil && state.Waiting.Reason != "" && state.Waiting.Reason != "PodInitializing":
			return "Init:" + state.Waiting.Reason, true
		}
		return fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers)), true
	}
	return "", false
}

func containerStatus(pod *corev1.Pod) string {
	word, running := "", false
	for _, status := range slices.Backward(pod.Status.ContainerStatuses) {
		switch state := status.State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			word = state.Waiting.Reason
		case state.Terminated != nil:
			word = terminatedWord(state.Terminated)
		case status.Ready && state.Running != nil:
			running = true
		}
	}
	if word == "Completed" && running {
		return "Running"
	}
	return word
}

func terminatedWord(state *corev1.ContainerStateTerminated) string {
	switch {
	case state.Reason != "":
		return state.Reason
	case state.Signal != 0:
		return fmt.Sprintf("Signal:%d", state.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", state.ExitCode)
}

// PodRestarts returns the number of restarts of the pod's containers, and how long ago the last one was.
func PodRestarts(pod *corev1.Pod, now time.Time) string {
	restarts, last := int32(0), time.Time{}
	for _, status := range pod.Status.ContainerStatuses {
		restarts += status.RestartCount
		if ended := status.LastTerminationState.Terminated; ended != nil && ended.FinishedAt.After(last) {
			last = ended.FinishedAt.Time
		}
	}
	if restarts == 0 || last.IsZero() {
		return fmt.Sprint(restarts)
	}
	return fmt.Sprintf("%d (%s ago)", restarts, render.FormatAgeSince(now, last))
}
