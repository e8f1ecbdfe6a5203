package jobstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// SortPods sorts the pods of a job by task and index.
func SortPods(job *batchv1alpha1.Job, pods []*corev1.Pod) {
	order := map[string]int{}
	for i := range job.Spec.Tasks {
		order[job.Spec.Tasks[i].Name] = i
	}
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		if d := order[TaskNameOf(a)] - order[TaskNameOf(b)]; d != 0 {
			return d
		}
		if d := len(a.Name) - len(b.Name); d != 0 && TaskNameOf(a) == TaskNameOf(b) {
			return d
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// TaskNameOf returns the name of the task to which a pod belongs.
func TaskNameOf(pod *corev1.Pod) string {
	if task := pod.Labels[keys.TaskSpec]; task != "" {
		return task
	}
	return pod.Annotations[keys.TaskSpec]
}

// maxFailures is the maximum number of failed containers listed.
const maxFailures = 5

// ListFailures lists the failed containers with their exit codes.
func ListFailures(job *batchv1alpha1.Job, pods []*corev1.Pod) []string {
	var lines []string
	more := 0
	for _, pod := range pods {
		for _, status := range ContainerStatuses(pod) {
			ended := status.State.Terminated
			if ended == nil || ended.ExitCode == 0 {
				continue
			}
			if len(lines) == maxFailures {
				more++
				continue
			}
			line := fmt.Sprintf("%s: container %s exited with code %d", ShortPod(job.Name, pod.Name), status.Name, ended.ExitCode)
			if ended.Reason != "" && ended.Reason != "Error" {
				line += " (" + ended.Reason + ")"
			}
			lines = append(lines, line)
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// ExitCode returns the exit code of the container that failed first; 0 if no container failed.
func ExitCode(pods []*corev1.Pod) int {
	var first *corev1.ContainerStateTerminated
	for _, pod := range pods {
		for _, status := range pod.Status.ContainerStatuses {
			ended := status.State.Terminated
			if ended == nil || ended.ExitCode == 0 {
				continue
			}
			if first == nil || ended.FinishedAt.Before(&first.FinishedAt) {
				first = ended
			}
		}
	}
	if first == nil {
		return 0
	}
	return int(first.ExitCode)
}
