package snapshot

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
)

func podReady(pod *corev1.Pod) string {
	ready := 0
	for _, status := range pod.Status.ContainerStatuses {
		if status.Ready {
			ready++
		}
	}
	return fmt.Sprintf("%d/%d", ready, len(pod.Spec.Containers))
}

func podStatus(pod *corev1.Pod) string { return cmp.Or(pod.Status.Reason, string(pod.Status.Phase)) }

func restartsOf(pod *corev1.Pod) int32 {
	var sum int32
	for _, status := range pod.Status.ContainerStatuses {
		sum += status.RestartCount
	}
	return sum
}

func taskOf(pod *corev1.Pod) string {
	return cmp.Or(pod.Labels[keys.TaskSpec], pod.Annotations[keys.TaskSpec])
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func troubleOf(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		if w := status.State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return oneLine(w.Reason + " " + w.Message)
		}
	}
	return ""
}
