package simnode

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Exit codes and reasons, as in the kubelet.
const (
	codeTerminated int32 = 143 // 128 + SIGTERM
	codeKilled     int32 = 137 // 128 + SIGKILL

	reasonCompleted        = "Completed"
	reasonError            = "Error"
	reasonCrashLoop        = "CrashLoopBackOff"
	reasonDeadlineExceeded = "DeadlineExceeded"
	reasonPodCompleted     = "PodCompleted"
	reasonPodFailed        = "PodFailed"
	reasonNotReady         = "ContainersNotReady"
)

// statusPatch returns a strategic merge patch that writes the record's status. It applies only to the pod with the
// record's UID.
func (r *record) statusPatch(hostIP string) ([]byte, error) {
	patch := struct {
		Metadata struct {
			UID types.UID `json:"uid"`
		} `json:"metadata"`
		Status corev1.PodStatus `json:"status"`
	}{Status: r.kubeletStatus(hostIP)}
	patch.Metadata.UID = r.uid
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, fmt.Errorf("pod %s: status patch: %w", r.name, err)
	}
	return body, nil
}

// kubeletStatus returns the status that a kubelet would report in this state. It does not contain PodScheduled, which
// the scheduler writes.
func (r *record) kubeletStatus(hostIP string) corev1.PodStatus {
	status := corev1.PodStatus{Phase: r.podPhaseNow()}
	if !r.podStart.IsZero() {
		start := metav1.NewTime(r.podStart)
		status.StartTime = &start
	}
	if r.podIP != "" {
		status.PodIP, status.PodIPs = r.podIP, []corev1.PodIP{{IP: r.podIP}}
	}
	if hostIP != "" {
		status.HostIP, status.HostIPs = hostIP, []corev1.HostIP{{IP: hostIP}}
	}
	if r.expired {
		status.Reason = reasonDeadlineExceeded
		status.Message = "Pod was active on the node longer than the specified deadline"
	}
	status.Conditions = r.podConditions()
	for _, c := range r.inits {
		status.InitContainerStatuses = append(status.InitContainerStatuses, r.initStatus(c))
	}
	for _, c := range r.containers {
		status.ContainerStatuses = append(status.ContainerStatuses, r.containerStatus(c))
	}
	return status
}

func (r *record) podPhaseNow() corev1.PodPhase {
	switch {
	case r.stage == waiting:
		return corev1.PodPending
	case r.stage != ended:
		return corev1.PodRunning
	case r.expired || r.exitCode != 0:
		return corev1.PodFailed
	default:
		return corev1.PodSucceeded
	}
}

// stageStart returns the time when the current stage began.
func (r *record) stageStart() time.Time {
	if r.stage == running {
		return r.started
	}
	return r.finished
}

func (r *record) podConditions() []corev1.PodCondition {
	since, ready, reason := metav1.NewTime(r.stageStart()), corev1.ConditionFalse, ""
	switch {
	case r.stage == running:
		ready = corev1.ConditionTrue
	case r.podPhaseNow() == corev1.PodSucceeded:
		reason = reasonPodCompleted
	case r.podPhaseNow() == corev1.PodFailed:
		reason = reasonPodFailed
	default:
		reason = reasonNotReady
	}
	return []corev1.PodCondition{
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(r.podStart)},
		{Type: corev1.ContainersReady, Status: ready, Reason: reason, LastTransitionTime: since},
		{Type: corev1.PodReady, Status: ready, Reason: reason, LastTransitionTime: since},
	}
}

// initStatus returns the status of an init container. An ordinary init container completed before the pod started; a
// sidecar runs as long as the pod.
func (r *record) initStatus(c containerSpec) corev1.ContainerStatus {
	start := metav1.NewTime(r.podStart)
	status := corev1.ContainerStatus{Name: c.name, Image: c.image, ContainerID: r.containerID(c, 0)}
	yes, no := true, false
	switch {
	case !c.sidecar:
		status.Ready, status.Started = true, &no
		status.State.Terminated = &corev1.ContainerStateTerminated{
			Reason: reasonCompleted, StartedAt: start, FinishedAt: start, ContainerID: status.ContainerID}
	case r.stage == ended:
		status.Started = &no
		status.State.Terminated = &corev1.ContainerStateTerminated{
			Reason: reasonCompleted, StartedAt: start, FinishedAt: metav1.NewTime(r.finished), ContainerID: status.ContainerID}
	default:
		status.Ready, status.Started = true, &yes
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: start}
	}
	return status
}

func (r *record) containerStatus(c containerSpec) corev1.ContainerStatus {
	isRunning := r.stage == running
	status := corev1.ContainerStatus{
		Name: c.name, Image: c.image, ContainerID: r.containerID(c, r.restarts),
		RestartCount: r.restarts, Ready: isRunning, Started: &isRunning,
	}
	switch r.stage {
	case running:
		status.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(r.started)}
		if r.restarts > 0 {
			status.LastTerminationState.Terminated = r.terminatedState(c, r.restarts-1)
		}
	case backoff:
		status.LastTerminationState.Terminated = r.terminatedState(c, r.restarts)
		status.State.Waiting = &corev1.ContainerStateWaiting{
			Reason:  reasonCrashLoop,
			Message: fmt.Sprintf("back-off %s restarting container %s", backoffAfter(r.restarts), c.name),
		}
	case ended:
		status.State.Terminated = r.terminatedState(c, r.restarts)
	}
	return status
}

func (r *record) terminatedState(c containerSpec, restarts int32) *corev1.ContainerStateTerminated {
	reason := reasonCompleted
	if r.exitCode != 0 {
		reason = reasonError
	}
	end := &corev1.ContainerStateTerminated{
		ExitCode: r.exitCode, Reason: reason,
		FinishedAt: metav1.NewTime(r.finished), ContainerID: r.containerID(c, restarts),
	}
	if r.stage != running { // the record contains only the start of the last run
		end.StartedAt = metav1.NewTime(r.started)
	}
	return end
}

func (r *record) containerID(c containerSpec, restarts int32) string {
	return fmt.Sprintf("simulated://%s/%s/%d", r.uid, c.name, restarts)
}
