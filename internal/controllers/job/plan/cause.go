package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/api/textformat"
)

// Reasons that a node sets on a pod or on a terminated container.
const (
	nodeDeadline    = "DeadlineExceeded"
	nodeEvicted     = "Evicted"
	nodeOutOfMemory = "OOMKilled"
	nodeStopped     = "NodeStopped"            // set by a process node
	nodeLostSight   = "ContainerStatusUnknown" // by a kubelet
	nodeStartError  = "StartError"
	nodeCannotRun   = "ContainerCannotRun"
)

// Reasons that Kubernetes' controllers set in a pod's DisruptionTarget condition because its node is gone or
// unreachable, or because of the eviction API.
const (
	byPodGC        = "DeletionByPodGC"
	byTaintManager = "DeletionByTaintManager"
	evictionByAPI  = "EvictionByEvictionAPI"
)

// mostOfMessage is the maximum number of characters copied from a node's message, which is shown in a table column.
const mostOfMessage = 100

// Cause is the reason why a pod failed or was lost. It consists of a code for programs, a text for users, and the
// exit code of the pod's container, if there is one.
type Cause struct {
	code reason.Code
	text string
	exit *int32
}

// jobFailure returns the cause as part of a job status, or nil if there is no cause, or it has no code.
func (c *Cause) jobFailure() *batchv1alpha1.JobFailure {
	if c == nil || c.code == "" {
		return nil
	}
	return &batchv1alpha1.JobFailure{Reason: string(c.code), Message: c.text, ExitCode: c.exit}
}

// reasonCodeText returns the reason code as a string, or "" if there is no cause.
func (c *Cause) reasonCodeText() string {
	if c == nil {
		return ""
	}
	return string(c.code)
}

// recordFailure stores a failure in a status. If there is no new failure, the previous one remains.
func recordFailure(status *batchv1alpha1.JobStatus, c *Cause) {
	if f := c.jobFailure(); f != nil {
		status.Failure = f
	}
}

// causeOfMember returns the reason why an existing pod failed.
func (b *builder) causeOfMember(m *member) Cause { return b.causeAtPlace(m.place, m.pod) }

// causeOfLost returns the reason why a pod was lost or, if it had failed before, why it failed. It returns nil if the
// pod's last state is unknown.
func (b *builder) causeOfLost(l *Lost, place Place) *Cause {
	switch {
	case l.Pod == nil:
		return nil
	case l.Failed:
		return new(b.causeAtPlace(place, l.Pod))
	}
	return new(causeOfLoss(b.placeDisplayName(place), l.Pod))
}

// causeAtPlace is like causeOfFailedPod, but for the pod at a given place. The cache may have dropped the pod's spec,
// in which case the spec is taken from the job's template.
func (b *builder) causeAtPlace(place Place, pod *corev1.Pod) Cause {
	if len(pod.Spec.Containers) == 0 {
		whole, template := *pod, &b.job.Spec.Tasks[place.Task].Template.Spec
		whole.Spec.Containers, whole.Spec.InitContainers = template.Containers, template.InitContainers
		whole.Spec.ActiveDeadlineSeconds = cmp.Or(pod.Spec.ActiveDeadlineSeconds, template.ActiveDeadlineSeconds)
		pod = &whole
	}
	return causeOfFailedPod(b.placeDisplayName(place), pod)
}

// placeDisplayName returns the task name and index of a pod.
func (b *builder) placeDisplayName(p Place) string {
	return fmt.Sprintf("%s-%d", b.job.Spec.Tasks[p.Task].Name, p.Index)
}

// firstFailed returns the failed pod with the lowest index in the first task that has failed pods, or nil if no pod
// counts as failed.
func (b *builder) firstFailed() *member {
	var first *member
	for m := range b.census.inRange() {
		if !willPodRemain(m) || m.podPhaseOf() != corev1.PodFailed {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(m.place.Task, first.place.Task), cmp.Compare(m.place.Index, first.place.Index)) < 0 {
			first = m
		}
	}
	return first
}

// causeOfFailedPod derives the cause of a failure from a failed pod.
func causeOfFailedPod(name string, pod *corev1.Pod) Cause {
	c := causeCodeOf(name, pod)
	if _, end := firstFailedContainer(pod); end != nil {
		c.exit = &end.ExitCode
	}
	return c
}

// causeCodeOf is causeOfFailedPod without the exit code. A rejection by the node or a disruption takes precedence,
// followed by the reason that the node set on the whole pod, because these explain why the containers ended.
func causeCodeOf(name string, pod *corev1.Pod) Cause {
	if WasRejectedByNode(pod) {
		return causeOfRefusal(name, pod)
	}
	if c, ok := disruptionCause(name, pod); ok {
		return c
	}
	switch pod.Status.Reason {
	case "":
	case nodeDeadline:
		text := name + " exceeded its time limit"
		if limit := pod.Spec.ActiveDeadlineSeconds; limit != nil {
			text += " of " + textformat.FormatDuration(time.Duration(*limit)*time.Second)
		}
		return Cause{code: reason.DeadlineExceeded, text: text}
	case nodeEvicted:
		return Cause{code: reason.Evicted, text: name + " was evicted by its node" + messageSuffix(pod.Status.Message)}
	default:
		return Cause{code: reason.PodFailed, text: fmt.Sprintf("%s failed (%s)%s", name, pod.Status.Reason, messageSuffix(pod.Status.Message))}
	}
	if container, end := firstFailedContainer(pod); end != nil {
		limit := memoryLimit(pod, container)
		if len(pod.Spec.InitContainers)+len(pod.Spec.Containers) > 1 {
			name += " container " + container
		}
		return describeContainerEnd(name, end, limit)
	}
	return Cause{code: reason.PodFailed, text: name + " failed" + messageSuffix(pod.Status.Message)}
}

// describeContainerEnd describes how a container ended. memory is its memory limit, or "".
func describeContainerEnd(name string, end *corev1.ContainerStateTerminated, memory string) Cause {
	switch end.Reason {
	case nodeStartError, nodeCannotRun:
		return Cause{code: reason.StartError, text: name + " could not start" + messageSuffix(trimOuterErrors(end.Message))}
	case nodeOutOfMemory:
		if memory == "" {
			return Cause{code: reason.OOMKilled, text: name + " used more memory than allowed"}
		}
		return Cause{code: reason.OOMKilled, text: name + " used more memory than its limit of " + memory}
	case nodeStopped, nodeLostSight:
		return Cause{code: reason.NodeStopped, text: name + ": the node was stopped"}
	}
	return Cause{code: reason.PodFailed, text: fmt.Sprintf("%s exited with code %d", name, end.ExitCode)}
}

// memoryLimit returns the memory limit of a pod's container or, if the container has no limit, the memory limit of the
// pod. It returns "" if neither has a limit.
func memoryLimit(pod *corev1.Pod, container string) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == container {
			return limit.String()
		}
	}
	if pod.Spec.Resources != nil {
		if limit, ok := pod.Spec.Resources.Limits[corev1.ResourceMemory]; ok {
			return limit.String()
		}
	}
	return ""
}

// onlyMemoryLimit returns the memory limit of a pod that has only one container, and "" otherwise.
func onlyMemoryLimit(pod *corev1.Pod) string {
	if len(pod.Spec.InitContainers)+len(pod.Spec.Containers) != 1 {
		return ""
	}
	return memoryLimit(pod, pod.Spec.Containers[0].Name)
}

// firstFailedContainer returns the first container that ended with an exit code other than 0, in the order in which
// containers run. end is nil if there is no such container.
func firstFailedContainer(pod *corev1.Pod) (container string, end *corev1.ContainerStateTerminated) {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if t := statuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
				return statuses[i].Name, t
			}
		}
	}
	return "", nil
}

// causeOfLoss returns the reason why a pod that this controller did not stop was lost. The reason is taken from the
// pod's disruption condition; without such a condition, it is an eviction.
func causeOfLoss(name string, pod *corev1.Pod) Cause {
	if c, ok := disruptionCause(name, pod); ok {
		return c
	}
	return Cause{code: reason.Evicted, text: name + " was evicted"}
}

// disruptionCause derives the cause from the DisruptionTarget condition of a pod.
func disruptionCause(name string, pod *corev1.Pod) (c Cause, ok bool) {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
	if at < 0 {
		return Cause{}, false
	}
	switch condition := &pod.Status.Conditions[at]; condition.Reason {
	case corev1.PodReasonPreemptionByScheduler:
		return Cause{code: reason.Preempted, text: name + " was preempted" + messageSuffix(condition.Message)}, true
	case byPodGC, byTaintManager:
		return Cause{code: reason.NodeStopped, text: name + ": the node was lost" + messageSuffix(condition.Message)}, true
	default:
		return Cause{code: reason.Evicted, text: name + " was evicted" + messageSuffix(condition.Message)}, true
	}
}

// messageSuffix returns the first line of a node's message, shortened and formatted for appending to a sentence.
func messageSuffix(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if line == "" {
		return ""
	}
	if letters := []rune(line); len(letters) > mostOfMessage {
		line = string(letters[:mostOfMessage-1]) + "…"
	}
	return ": " + line
}

// trimOuterErrors shortens an error message of the form "outer: inner: cause" from the left, until it is short enough for
// messageSuffix or has no outer errors. Container runtimes begin such messages with the names of their own steps, and the
// program that they could not start is at the end.
func trimOuterErrors(message string) string {
	message, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	for utf8.RuneCountInString(message) > mostOfMessage {
		_, inner, isNested := strings.Cut(message, ": ")
		if !isNested {
			break
		}
		message = inner
	}
	return message
}

func causeOfRefusal(name string, pod *corev1.Pod) Cause {
	return Cause{code: reason.PodRefused, text: fmt.Sprintf("%s was rejected by its node (%s)%s", name, pod.Status.Reason, messageSuffix(pod.Status.Message))}
}
