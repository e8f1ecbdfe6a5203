package jobstatus

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Trouble is the reason why a pod that has a node is not running.
type Trouble struct {
	Pod *corev1.Pod
	// Code is a one-word reason. Message is the message that the node reported; it may be empty.
	Code, Message string
}

// TroubleOfPod returns the problem of a pod. This is the reason why a container is waiting, except that containers that
// are being created or are waiting for init containers do not count. If there is no such container, it is the latest
// warning about a pod that has a node but has not started.
func TroubleOfPod(pod *corev1.Pod, events []corev1.Event) (Trouble, bool) {
	for _, status := range ContainerStatuses(pod) {
		waits := status.State.Waiting
		if waits == nil {
			continue
		}
		switch waits.Reason {
		case "", "ContainerCreating", "PodInitializing":
			continue
		}
		return Trouble{pod, waits.Reason, waits.Message}, true
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return Trouble{}, false
	}
	if event := NewestWarning(pod, events); event != nil {
		return Trouble{pod, event.Reason, event.Message}, true
	}
	return Trouble{}, false
}

// fromScheduler lists the reasons of events about pods that have no node.
var fromScheduler = map[string]bool{"FailedScheduling": true, "Unschedulable": true}

// NewestWarning returns the latest warning about a pod that has a node. The events must be sorted with the oldest
// first. It ignores warnings from schedulers, because they are obsolete.
func NewestWarning(pod *corev1.Pod, events []corev1.Event) *corev1.Event {
	for i := range slices.Backward(events) {
		if events[i].InvolvedObject.UID == pod.UID && events[i].Type == corev1.EventTypeWarning && !fromScheduler[events[i].Reason] {
			return &events[i]
		}
	}
	return nil
}

// ContainerStatuses returns the statuses of the init containers, followed by the statuses of the other containers.
func ContainerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...)
}

// TroublesOfPods returns the problems of all pods, in the order of the pods.
func TroublesOfPods(pods []*corev1.Pod, events []corev1.Event) []Trouble {
	var all []Trouble
	for _, pod := range pods {
		if one, found := TroubleOfPod(pod, events); found {
			all = append(all, one)
		}
	}
	return all
}

// toJobReason returns the problem in the form of a reason why its job is not running.
func (t Trouble) toJobReason(job string) Why {
	return Why{Code: t.Code, Message: strings.TrimSuffix(fmt.Sprintf("pod %s: %s", ShortPod(job, t.Pod.Name), OneLine(t.Message)), ": ")}
}

// TroubleLines returns, for each task and problem, the number of affected pods and the number of container restarts.
func TroubleLines(job *batchv1alpha1.Job, troubles []Trouble) []string {
	type key struct{ task, code string }
	var order []key
	pods, restarts := map[key]int{}, map[key]int32{}
	for _, one := range troubles {
		k := key{TaskNameOf(one.Pod), one.Code}
		if pods[k] == 0 {
			order = append(order, k)
		}
		pods[k]++
		restarts[k] += CountRestarts(one.Pod)
	}
	lines := make([]string, len(order))
	for i, k := range order {
		lines[i] = fmt.Sprintf("task %s: %d of %d pods %s", k.task, pods[k], replicasOfTask(job, k.task), k.code)
		if restarts[k] > 0 {
			lines[i] += fmt.Sprintf(", %d restarts", restarts[k])
		}
	}
	return lines
}

func replicasOfTask(job *batchv1alpha1.Job, task string) int32 {
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Name == task {
			return job.Spec.Tasks[i].Replicas
		}
	}
	return 0
}

// CountRestarts returns the total number of restarts of a pod's containers.
func CountRestarts(pod *corev1.Pod) int32 {
	var sum int32
	for _, status := range ContainerStatuses(pod) {
		sum += status.RestartCount
	}
	return sum
}

// RestartsOfTask returns the number of restarts in all pods of a task.
func RestartsOfTask(pods []*corev1.Pod, task string) int32 {
	var sum int32
	for _, pod := range pods {
		if TaskNameOf(pod) == task {
			sum += CountRestarts(pod)
		}
	}
	return sum
}

// ReplaceByTrouble replaces a reason that the scheduler did not explain with the first problem of the pods. It reports
// whether it replaced the reason.
func (w Why) ReplaceByTrouble(troubles []Trouble, job string) (Why, bool) {
	if w.Explained || len(troubles) == 0 {
		return w, false
	}
	return troubles[0].toJobReason(job), true
}

// OneLine replaces every run of white space in a text with one space.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
