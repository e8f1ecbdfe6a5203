package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// newRecord creates the record of a pod that the fleet has not seen before. If the pod has already started, the record
// continues from the pod's status.
func newRecord(pod *corev1.Pod, startDelay time.Duration, now time.Time) (record, []problem) {
	s, problems := parseScript(pod.Annotations, startDelay)
	r := record{
		name: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, uid: pod.UID,
		node: pod.Spec.NodeName, restart: pod.Spec.RestartPolicy, script: s, seen: now, podIP: pod.Status.PodIP,
	}
	for _, c := range pod.Spec.InitContainers {
		always := c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
		r.inits = append(r.inits, containerSpec{name: c.Name, image: c.Image, sidecar: always})
	}
	for _, c := range pod.Spec.Containers {
		r.containers = append(r.containers, containerSpec{name: c.Name, image: c.Image})
	}
	if limit := pod.Spec.ActiveDeadlineSeconds; limit != nil {
		r.deadline = time.Duration(*limit) * time.Second
	}
	r.setFromStatus(pod, now)
	r.observeDeletion(pod, now)
	return r, problems
}

// setFromStatus sets the record from the pod's status. Times in the status are in whole seconds, so after a restart of
// the fleet, a run may end up to a second early.
func (r *record) setFromStatus(pod *corev1.Pod, now time.Time) {
	if start := pod.Status.StartTime; start != nil {
		r.podStart = start.Time
	}
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed:
		r.stage, r.finished = ended, now
	case corev1.PodRunning:
		r.stage, r.started = running, r.podStart
	}
	if len(pod.Status.ContainerStatuses) == 0 {
		return
	}
	status := pod.Status.ContainerStatuses[0]
	r.restarts = status.RestartCount
	switch end := status.LastTerminationState.Terminated; {
	case r.stage != running:
	case status.State.Running != nil:
		r.started = status.State.Running.StartedAt.Time
		if end != nil {
			r.exitCode, r.finished = end.ExitCode, end.FinishedAt.Time
		}
	case status.State.Waiting != nil && end != nil:
		r.stage, r.exitCode = backoff, end.ExitCode
		r.started, r.finished = end.StartedAt.Time, end.FinishedAt.Time
	}
}

// observeDeletion records the time of the deletion request and the end of the grace period.
func (r *record) observeDeletion(pod *corev1.Pod, now time.Time) {
	if pod.DeletionTimestamp == nil {
		return
	}
	if r.deletedAt.IsZero() {
		r.deletedAt = now
	}
	r.killAt = pod.DeletionTimestamp.Time // the API server has added the grace period
	if r.killAt.Before(r.deletedAt) {
		r.killAt = r.deletedAt
	}
}
