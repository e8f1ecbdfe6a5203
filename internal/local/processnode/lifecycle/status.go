package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ImageID is used in place of an image's digest in a container's status.
const ImageID = "not-pulled://this-machine"

// Status returns the current status of the pod. It keeps fields that are written by others (qosClass, and conditions
// that are not the kubelet's) as they are in the API object. It stores the conditions, so that their transition times
// are kept.
func (p *Pod) Status(now time.Time) corev1.PodStatus {
	status := *p.API.Status.DeepCopy()
	status.ObservedGeneration = p.API.Generation
	status.HostIP, status.HostIPs = p.HostIP, nil
	if p.HostIP != "" {
		status.HostIPs = []corev1.HostIP{{IP: p.HostIP}}
	}
	if p.PodIP != "" {
		status.PodIP, status.PodIPs = p.PodIP, []corev1.PodIP{{IP: p.PodIP}}
	}
	start := metav1.NewTime(p.StartedAt.Truncate(time.Second))
	status.StartTime = &start
	status.InitContainerStatuses, status.ContainerStatuses = nil, nil
	for _, c := range p.Containers {
		if c.Kind == Main {
			status.ContainerStatuses = append(status.ContainerStatuses, p.containerStatus(c))
		} else {
			status.InitContainerStatuses = append(status.InitContainerStatuses, p.containerStatus(c))
		}
	}
	status.Phase = p.currentPhase()
	status.Reason, status.Message = "", ""
	if p.stop != nil && p.stop.Reason == ReasonDeadline {
		status.Reason, status.Message = ReasonDeadline, messageDeadline
	}
	p.setConditions(&status, now)
	p.API.Status.Conditions = append([]corev1.PodCondition(nil), status.Conditions...)
	return status
}

func (p *Pod) currentPhase() corev1.PodPhase {
	deadline := p.stop != nil && p.stop.Reason == ReasonDeadline
	if p.HasFinished() {
		return p.finalPhase(deadline)
	}
	if !p.ready {
		return corev1.PodPending
	}
	if slices.ContainsFunc(p.Containers, func(c *Container) bool { return c.Kind == Main && !c.hasEverStarted() }) {
		return corev1.PodPending
	}
	return corev1.PodRunning
}

// hasEverStarted reports whether a container is running or has run before.
func (c *Container) hasEverStarted() bool {
	hasEnded := c.End != nil || c.Last != nil
	isAboutToStart := c.Stage == Waiting || c.Stage == Starting
	return hasEnded || !isAboutToStart
}

func (p *Pod) finalPhase(deadline bool) corev1.PodPhase {
	if deadline || p.failed {
		return corev1.PodFailed
	}
	for _, c := range p.Containers {
		if c.Kind == Main && (c.End == nil || c.End.Code != 0) {
			return corev1.PodFailed
		}
	}
	return corev1.PodSucceeded
}

func (p *Pod) containerStatus(c *Container) corev1.ContainerStatus {
	started := c.Stage == Running && c.Started
	if c.Stage == Stopping {
		started = c.Started
	}
	status := corev1.ContainerStatus{
		Name: c.Spec.Name, Image: c.Spec.Image, RestartCount: int32(c.Attempt), Started: &started,
		Ready: p.isReady(c), State: p.containerState(c),
	}
	if c.ID != "" {
		status.ImageID, status.ContainerID = ImageID, c.ID
	}
	if last := c.lastEnd(); last != nil {
		status.LastTerminationState.Terminated = last.toTerminated()
	}
	return status
}

// lastEnd returns the result of the attempt before the one that State describes.
func (c *Container) lastEnd() *End {
	if c.Stage == Waiting && c.waitReason != "" && c.End != nil {
		return c.End
	}
	return c.Last
}

func (p *Pod) isReady(c *Container) bool {
	switch c.Kind {
	case Init:
		return c.Stage == Ended && c.End.Code == 0
	default:
		return c.Stage == Running && c.Started && c.Healthy
	}
}

// waitsAfterEnd reports whether a container has ended and is waiting without a waiting reason. The status of such a
// container still shows how it ended.
func (c *Container) waitsAfterEnd() bool {
	return c.Stage == Waiting && c.waitReason == "" && c.End != nil
}

func (p *Pod) containerState(c *Container) corev1.ContainerState {
	switch {
	case c.Stage == Running || c.Stage == Stopping:
		return corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: truncateTime(c.StartedAt)}}
	case c.Stage == Ended, c.waitsAfterEnd():
		return corev1.ContainerState{Terminated: c.End.toTerminated()}
	}
	waiting := &corev1.ContainerStateWaiting{Reason: c.waitReason, Message: c.waitMessage}
	if waiting.Reason == "" {
		waiting.Reason = ReasonCreating
		if c.Kind == Main && !p.ready && p.hasInit() {
			waiting.Reason = ReasonInitializing
		}
	}
	return corev1.ContainerState{Waiting: waiting}
}

func (p *Pod) hasInit() bool { return len(p.API.Spec.InitContainers) > 0 }

func (e *End) toTerminated() *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: int32(e.Code), Signal: int32(e.Signal), Reason: e.Reason, Message: e.Message,
		StartedAt: truncateTime(e.StartedAt), FinishedAt: truncateTime(e.FinishedAt), ContainerID: e.ID,
	}
}

func truncateTime(t time.Time) metav1.Time {
	if t.IsZero() {
		return metav1.Time{}
	}
	return metav1.NewTime(t.Truncate(time.Second))
}

func (p *Pod) setConditions(status *corev1.PodStatus, now time.Time) {
	ended := status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed
	p.setPodCondition(status, now, corev1.PodReadyToStartContainers, p.Prepared && !ended, "", "")
	if status.Phase == corev1.PodSucceeded || p.ready {
		reason := ""
		if status.Phase == corev1.PodSucceeded {
			reason = "PodCompleted"
		}
		p.setPodCondition(status, now, corev1.PodInitialized, true, reason, "")
	} else {
		p.setPodCondition(status, now, corev1.PodInitialized, !p.hasInit(), reasonUnless(!p.hasInit(), "ContainersNotInitialized"),
			reasonUnless(!p.hasInit(), "containers with incomplete status: ["+strings.Join(p.containerNames(func(c *Container) bool { return c.Kind != Main && !p.isReady(c) }), " ")+"]"))
	}
	ready, reason, message := p.evaluateReadiness(status)
	p.setPodCondition(status, now, corev1.ContainersReady, ready, reason, message)
	if ready {
		ready, reason, message = p.evaluateGates(status)
	}
	p.setPodCondition(status, now, corev1.PodReady, ready, reason, message)
	p.setPodCondition(status, now, corev1.PodScheduled, true, "", "")
}

func reasonUnless(ok bool, text string) string {
	if ok {
		return ""
	}
	return text
}

func (p *Pod) evaluateReadiness(status *corev1.PodStatus) (ready bool, reason, message string) {
	switch status.Phase {
	case corev1.PodSucceeded:
		return false, "PodCompleted", ""
	case corev1.PodFailed:
		return false, "PodFailed", ""
	}
	unready := p.containerNames(func(c *Container) bool { return c.Kind != Init && !p.isReady(c) })
	if len(unready) == 0 {
		return true, "", ""
	}
	return false, "ContainersNotReady", fmt.Sprintf("containers with unready status: [%s]", strings.Join(unready, " "))
}

// evaluateGates evaluates the pod's readiness gates, whose conditions are written by others.
func (p *Pod) evaluateGates(status *corev1.PodStatus) (ready bool, reason, message string) {
	for _, gate := range p.API.Spec.ReadinessGates {
		isOpen := slices.ContainsFunc(status.Conditions, func(condition corev1.PodCondition) bool {
			return condition.Type == gate.ConditionType && condition.Status == corev1.ConditionTrue
		})
		if !isOpen {
			return false, "ReadinessGatesNotReady", fmt.Sprintf("corresponding condition of pod readiness gate %q is not True", gate.ConditionType)
		}
	}
	return true, "", ""
}

func (p *Pod) containerNames(which func(*Container) bool) []string {
	var names []string
	for _, c := range p.Containers {
		if which(c) {
			names = append(names, c.Spec.Name)
		}
	}
	return names
}

// setPodCondition writes a condition. The transition time changes only if the status of the condition changes.
func (p *Pod) setPodCondition(status *corev1.PodStatus, now time.Time, kind corev1.PodConditionType, value bool, reason, message string) {
	fresh := corev1.PodCondition{Type: kind, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: truncateTime(now), ObservedGeneration: p.API.Generation}
	if value {
		fresh.Status = corev1.ConditionTrue
	}
	for i := range status.Conditions {
		old := &status.Conditions[i]
		if old.Type != kind {
			continue
		}
		if kind == corev1.PodScheduled {
			return // the scheduler writes this condition
		}
		if old.Status == fresh.Status {
			fresh.LastTransitionTime = old.LastTransitionTime
		}
		*old = fresh
		return
	}
	status.Conditions = append(status.Conditions, fresh)
}
