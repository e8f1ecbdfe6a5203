package account

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Trouble is why a pod that has a node does not get to work.
type Trouble struct {
	Pod *corev1.Pod
	// Code is one word, Message what the node said; it may be empty.
	Code, Message string
}

// TroubleOf finds what holds a pod up: a container that waits for something else
// than its turn, else the newest warning about a pod that does not start.
func TroubleOf(pod *corev1.Pod, events []corev1.Event) (Trouble, bool) {
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

// fromScheduler are reasons of events about pods without a node.
var fromScheduler = map[string]bool{"FailedScheduling": true, "Unschedulable": true}

// NewestWarning is the last warning about a pod that has a node, among events,
// which are oldest first. What a scheduler warned of before is over.
func NewestWarning(pod *corev1.Pod, events []corev1.Event) *corev1.Event {
	for i := range slices.Backward(events) {
		if events[i].InvolvedObject.UID == pod.UID && events[i].Type == corev1.EventTypeWarning && !fromScheduler[events[i].Reason] {
			return &events[i]
		}
	}
	return nil
}

// ContainerStatuses are those of the init containers, then those of the others.
func ContainerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...)
}

// TroublesOf are those of all pods, in the order of the pods.
func TroublesOf(pods []*corev1.Pod, events []corev1.Event) []Trouble {
	var all []Trouble
	for _, pod := range pods {
		if one, found := TroubleOf(pod, events); found {
			all = append(all, one)
		}
	}
	return all
}

// asReason is the trouble as the reason of its job.
func (t Trouble) asReason(job string) Why {
	return Why{Code: t.Code, Message: strings.TrimSuffix(fmt.Sprintf("pod %s: %s", ShortPod(job, t.Pod.Name), OneLine(t.Message)), ": ")}
}

// TroubleLines says, task by task, how many pods are held up by what, and how
// often their containers were started again.
func TroubleLines(job *batchv1alpha1.Job, troubles []Trouble) []string {
	type key struct{ task, code string }
	var order []key
	pods, restarts := map[key]int{}, map[key]int32{}
	for _, one := range troubles {
		k := key{TaskOf(one.Pod), one.Code}
		if pods[k] == 0 {
			order = append(order, k)
		}
		pods[k]++
		restarts[k] += Restarts(one.Pod)
	}
	lines := make([]string, len(order))
	for i, k := range order {
		lines[i] = fmt.Sprintf("task %s: %d of %d pods %s", k.task, pods[k], replicasOf(job, k.task), k.code)
		if restarts[k] > 0 {
			lines[i] += fmt.Sprintf(", %d restarts", restarts[k])
		}
	}
	return lines
}

func replicasOf(job *batchv1alpha1.Job, task string) int32 {
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Name == task {
			return job.Spec.Tasks[i].Replicas
		}
	}
	return 0
}

// Restarts is how often containers of a pod were started again.
func Restarts(pod *corev1.Pod) int32 {
	var sum int32
	for _, status := range ContainerStatuses(pod) {
		sum += status.RestartCount
	}
	return sum
}

// RestartsOfTask is the number of restarts in all pods of a task.
func RestartsOfTask(pods []*corev1.Pod, task string) int32 {
	var sum int32
	for _, pod := range pods {
		if TaskOf(pod) == task {
			sum += Restarts(pod)
		}
	}
	return sum
}

// GiveWay puts the pods' trouble in the place of a reason that the scheduler did
// not explain; it reports whether it did.
func (w Why) GiveWay(troubles []Trouble, job string) (Why, bool) {
	if w.Explained || len(troubles) == 0 {
		return w, false
	}
	return troubles[0].asReason(job), true
}

// OneLine is a text with every run of blanks and line breaks as one blank.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
