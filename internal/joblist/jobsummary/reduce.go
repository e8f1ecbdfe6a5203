package jobsummary

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// reduceSpec returns a spec without the fields that lists do not show, such as commands, volumes and policies.
func reduceSpec(spec *batchv1alpha1.JobSpec) *batchv1alpha1.JobSpec {
	slim := *spec
	slim.Volumes, slim.Policies, slim.Plugins = nil, nil, nil
	slim.Tasks = make([]batchv1alpha1.TaskSpec, len(spec.Tasks))
	for i := range spec.Tasks {
		task := spec.Tasks[i]
		task.Policies, task.DependsOn = nil, nil
		task.Template = corev1.PodTemplateSpec{Spec: reducePodSpec(&task.Template.Spec)}
		slim.Tasks[i] = task
	}
	return &slim
}

// reducePodSpec returns the requests, the time limit and the user of a pod.
func reducePodSpec(spec *corev1.PodSpec) corev1.PodSpec {
	slim := corev1.PodSpec{ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds, Containers: make([]corev1.Container, len(spec.Containers))}
	if s := spec.SecurityContext; s != nil && s.RunAsUser != nil {
		slim.SecurityContext = &corev1.PodSecurityContext{RunAsUser: s.RunAsUser}
	}
	for i := range spec.Containers {
		slim.Containers[i].Resources = spec.Containers[i].Resources
	}
	return slim
}

// reduceStatus returns a status without its times, which are sent separately, and without the counters of tasks.
func reduceStatus(status *batchv1alpha1.JobStatus) *batchv1alpha1.JobStatus {
	slim := *status
	slim.TaskStatusCount, slim.ControlledResources, slim.RunningDuration = nil, nil, nil
	slim.State.LastTransitionTime = metav1.Time{}
	slim.Conditions = make([]batchv1alpha1.JobCondition, len(status.Conditions))
	for i, c := range status.Conditions {
		slim.Conditions[i].Status = c.Status
	}
	return &slim
}

// reduceGroupStatus returns the status of a PodGroup without texts and times, and without the queue position, which is
// sent separately.
func reduceGroupStatus(status *schedulingv1beta1.PodGroupStatus) *schedulingv1beta1.PodGroupStatus {
	slim := &schedulingv1beta1.PodGroupStatus{Phase: status.Phase}
	for _, c := range status.Conditions {
		slim.Conditions = append(slim.Conditions, schedulingv1beta1.PodGroupCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
	}
	if status.Explanation == nil {
		return slim
	}
	e := *status.Explanation
	e.Message, e.Hint, e.Helps, e.Estimate, e.Spared = "", "", nil, "", nil
	e.Since, e.LastAttempt, e.EstimatedStart, e.Attempts = nil, nil, nil, 0
	if e.Queue != nil {
		e.Queue = &schedulingv1beta1.ExplainedQueue{Name: e.Queue.Name}
	}
	slim.Explanation = &e
	return slim
}

// reducePod returns the node, state and result of a pod, and the reports of its launchers.
func reducePod(pod *corev1.Pod) *corev1.Pod {
	slim := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Labels: map[string]string{}}}
	for _, key := range []string{keys.TaskSpec, keys.JobID, keys.ArrayIndex} {
		if value, ok := pod.Labels[key]; ok {
			slim.Labels[key] = value
		}
	}
	if used, ok := pod.Annotations[keys.Used]; ok {
		slim.Annotations = map[string]string{keys.Used: used}
	}
	slim.Spec.NodeName = pod.Spec.NodeName
	s := &pod.Status
	slim.Status = corev1.PodStatus{Phase: s.Phase, Reason: s.Reason, StartTime: s.StartTime, NominatedNodeName: s.NominatedNodeName,
		InitContainerStatuses: reduceContainers(s.InitContainerStatuses), ContainerStatuses: reduceContainers(s.ContainerStatuses)}
	for _, c := range s.Conditions {
		if c.Type == corev1.DisruptionTarget {
			slim.Status.Conditions = append(slim.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
	}
	return slim
}

// reportMark is the prefix of the JSON reports that launchers of Slurm jobs write as termination messages. Other
// messages, such as log lines, are not sent.
const reportMark = "{"

// ReportBytes returns the length of the reports in the termination messages of a pod.
func ReportBytes(pod *corev1.Pod) int {
	size := 0
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			size += len(reportOf(&statuses[i]))
		}
	}
	return size
}

// reportOf returns the report in the termination message of a container; empty if none exists.
func reportOf(status *corev1.ContainerStatus) string {
	if t := status.State.Terminated; t != nil && strings.HasPrefix(t.Message, reportMark) {
		return t.Message
	}
	return ""
}

// reduceContainers returns the states of containers without messages other than reports.
func reduceContainers(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var slim []corev1.ContainerStatus
	for i := range statuses {
		state := statuses[i].State
		if t := state.Terminated; t != nil {
			state.Terminated = &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Signal: t.Signal, Reason: t.Reason, Message: reportOf(&statuses[i]), StartedAt: t.StartedAt, FinishedAt: t.FinishedAt}
		}
		if w := state.Waiting; w != nil {
			state.Waiting = &corev1.ContainerStateWaiting{Reason: w.Reason}
		}
		slim = append(slim, corev1.ContainerStatus{Name: statuses[i].Name, State: state})
	}
	return slim
}

// isNeededKey reports whether lists need a label or annotation of a job.
func isNeededKey(key string) bool { return strings.HasPrefix(key, keys.OurPrefix) }
