package job

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// trouble is why a pod that has a node does not get to work.
type trouble struct {
	pod *corev1.Pod
	// code is one word, message what the node said; it may be empty.
	code, message string
}

// troubleOf finds what holds a pod up: a container that waits for something else
// than its turn, else the newest warning about a pod that does not start.
func troubleOf(pod *corev1.Pod, events []corev1.Event) (trouble, bool) {
	for _, status := range containerStatuses(pod) {
		waits := status.State.Waiting
		if waits == nil {
			continue
		}
		switch waits.Reason {
		case "", "ContainerCreating", "PodInitializing":
			continue
		}
		return trouble{pod, waits.Reason, waits.Message}, true
	}
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return trouble{}, false
	}
	if event := newestWarning(pod, events); event != nil {
		return trouble{pod, event.Reason, event.Message}, true
	}
	return trouble{}, false
}

// fromScheduler are reasons of events about pods without a node.
var fromScheduler = map[string]bool{"FailedScheduling": true, "Unschedulable": true}

// newestWarning is the last warning about a pod that has a node, among events,
// which are oldest first. What a scheduler warned of before is over.
func newestWarning(pod *corev1.Pod, events []corev1.Event) *corev1.Event {
	for i := range slices.Backward(events) {
		if events[i].InvolvedObject.UID == pod.UID && events[i].Type == corev1.EventTypeWarning && !fromScheduler[events[i].Reason] {
			return &events[i]
		}
	}
	return nil
}

func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...)
}

// troublesOf are those of all pods, in the order of the pods.
func troublesOf(pods []*corev1.Pod, events []corev1.Event) []trouble {
	var all []trouble
	for _, pod := range pods {
		if one, found := troubleOf(pod, events); found {
			all = append(all, one)
		}
	}
	return all
}

// asReason is the trouble as the reason of its job.
func (t trouble) asReason(job string) why {
	return why{Code: t.code, Message: strings.TrimSuffix(fmt.Sprintf("pod %s: %s", shortPod(job, t.pod.Name), oneLine(t.message)), ": ")}
}

// troubleLines says, task by task, how many pods are held up by what, and how
// often their containers were started again.
func troubleLines(job *batchv1alpha1.Job, troubles []trouble) []string {
	type key struct{ task, code string }
	var order []key
	pods, restarts := map[key]int{}, map[key]int32{}
	for _, one := range troubles {
		k := key{taskOf(one.pod), one.code}
		if pods[k] == 0 {
			order = append(order, k)
		}
		pods[k]++
		restarts[k] += restartsOf(one.pod)
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

func restartsOf(pod *corev1.Pod) int32 {
	var sum int32
	for _, status := range containerStatuses(pod) {
		sum += status.RestartCount
	}
	return sum
}

// restartsOfTask is the number of restarts in all pods of a task.
func restartsOfTask(pods []*corev1.Pod, task string) int32 {
	var sum int32
	for _, pod := range pods {
		if taskOf(pod) == task {
			sum += restartsOf(pod)
		}
	}
	return sum
}

// giveWay puts the pods' trouble in the place of a reason that the scheduler did
// not explain; it reports whether it did.
func (w why) giveWay(troubles []trouble, job string) (why, bool) {
	if w.explained || len(troubles) == 0 {
		return w, false
	}
	return troubles[0].asReason(job), true
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
