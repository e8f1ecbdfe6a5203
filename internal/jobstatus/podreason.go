package jobstatus

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// GroupReason returns the reason why a gang is waiting, as text for a table column. The reason comes from the
// scheduler's explanation or, if none exists, from the conditions. GroupReason returns "" if there is no reason.
func GroupReason(group *schedulingv1beta1.PodGroup) string {
	if e := group.Status.Explanation; e != nil && e.Reason != "" {
		return reasonFromExplanation(e).CodeAndMessage()
	}
	switch group.Status.Phase {
	case schedulingv1beta1.PodGroupRunning, schedulingv1beta1.PodGroupCompleted:
		return ""
	}
	w, _ := reasonFromConditions(group)
	return w.CodeAndMessage()
}

// PodReason returns the reason why a pod is not running or has failed, or "" if there is no problem. events may be
// empty; otherwise, the oldest event comes first.
func PodReason(pod *corev1.Pod, events []corev1.Event) string {
	if one, found := TroubleOfPod(pod, events); found {
		return Why{Code: one.Code, Message: OneLine(one.Message)}.CodeAndMessage()
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && pod.Spec.NodeName == "" {
			return Why{Code: condition.Reason, Message: OneLine(condition.Message)}.CodeAndMessage()
		}
	}
	if pod.Status.Phase != corev1.PodFailed {
		return ""
	}
	for _, status := range ContainerStatuses(pod) {
		if ended := status.State.Terminated; ended != nil && ended.ExitCode != 0 {
			return Why{Code: cmp.Or(ended.Reason, "Error"), Message: strings.TrimSuffix(fmt.Sprintf("container %s exited with code %d: %s", status.Name, ended.ExitCode, OneLine(ended.Message)), ": ")}.CodeAndMessage()
		}
	}
	return Why{Code: pod.Status.Reason, Message: OneLine(pod.Status.Message)}.CodeAndMessage()
}
