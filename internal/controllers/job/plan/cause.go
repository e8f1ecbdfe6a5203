package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// What nodes write as the reason of a pod or of a container's end.
const (
	nodeDeadline    = "DeadlineExceeded"
	nodeEvicted     = "Evicted"
	nodeOutOfMemory = "OOMKilled"
	nodeStopped     = "NodeStopped"            // a process node
	nodeLostSight   = "ContainerStatusUnknown" // a kubelet
	nodeStartError  = "StartError"
	nodeCannotRun   = "ContainerCannotRun"
)

// mostOfMessage is how many characters of a node's own words are repeated: they end up in a column.
const mostOfMessage = 100

// cause is why a pod failed: a code for scripts and some words for people.
type cause struct {
	code reason.Code
	text string
}

// judge is settle, with the code of what led to the phase; a failure names the first pod that failed before the rule that this broke.
func (b *builder) judge(n *counters) (phase batch.JobPhase, code, why string) {
	phase, why = settle(b.job, n)
	if phase == batch.Pending || phase == batch.Running {
		if c := b.hopeless(n); c != nil {
			return batch.Failed, string(c.code), c.text
		}
	}
	if phase != batch.Failed || b.phase() == batch.Failed {
		return phase, "", why
	}
	first := b.firstFailed()
	if first == nil {
		return phase, "", why
	}
	c := b.causeOfMember(first)
	if b.phase() == batch.Running && n.succeeded == 0 {
		return phase, string(c.code), c.text // nothing went well: the rule says nothing more
	}
	return phase, string(c.code), c.text + "; " + why
}

// causeOfMember is causeOf for a pod whose spec the cache may have dropped: the job knows it.
func (b *builder) causeOfMember(m *member) cause {
	task, pod := &b.job.Spec.Tasks[m.place.Task], m.pod
	if len(pod.Spec.Containers) == 0 {
		whole, template := *pod, &task.Template.Spec
		whole.Spec.Containers, whole.Spec.InitContainers = template.Containers, template.InitContainers
		whole.Spec.ActiveDeadlineSeconds = cmp.Or(pod.Spec.ActiveDeadlineSeconds, template.ActiveDeadlineSeconds)
		pod = &whole
	}
	return causeOf(fmt.Sprintf("%s-%d", task.Name, m.place.Index), pod)
}

// firstFailed is the failed pod of the first task with one, the lowest index first; nil when none is counted as failed.
func (b *builder) firstFailed() *member {
	var first *member
	for i := range b.census.members {
		m := &b.census.members[i]
		if m.gone || m.stop || !m.inRange || m.phase() != corev1.PodFailed {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(m.place.Task, first.place.Task), cmp.Compare(m.place.Index, first.place.Index)) < 0 {
			first = m
		}
	}
	return first
}

// causeOf reads out of a failed pod why it failed. What the node says of the whole pod goes before what its containers say: their ends follow from it.
func causeOf(name string, pod *corev1.Pod) cause {
	if Refused(pod) {
		return causeOfRefusal(name, pod)
	}
	switch pod.Status.Reason {
	case "":
	case nodeDeadline:
		text := name + " was over its time limit"
		if limit := pod.Spec.ActiveDeadlineSeconds; limit != nil {
			text += " of " + limitText(time.Duration(*limit)*time.Second)
		}
		return cause{reason.DeadlineExceeded, text}
	case nodeEvicted:
		return cause{reason.Evicted, name + " was evicted by its node" + saying(pod.Status.Message)}
	default:
		return cause{reason.PodFailed, fmt.Sprintf("%s failed (%s)%s", name, pod.Status.Reason, saying(pod.Status.Message))}
	}
	if container, end := firstBadEnd(pod); end != nil {
		if len(pod.Spec.InitContainers)+len(pod.Spec.Containers) > 1 {
			name += " container " + container
		}
		return causeOfEnd(name, end)
	}
	return cause{reason.PodFailed, name + " failed" + saying(pod.Status.Message)}
}

func causeOfEnd(name string, end *corev1.ContainerStateTerminated) cause {
	switch end.Reason {
	case nodeStartError, nodeCannotRun:
		return cause{reason.StartError, name + " could not start" + saying(end.Message)}
	case nodeOutOfMemory:
		return cause{reason.OOMKilled, name + " used more memory than it may"}
	case nodeStopped, nodeLostSight:
		return cause{reason.NodeStopped, name + ": the node was stopped"}
	}
	return cause{reason.PodFailed, fmt.Sprintf("%s exited with code %d", name, end.ExitCode)}
}

// firstBadEnd is the first container, in the order in which they run, that ended badly; nil when none did.
func firstBadEnd(pod *corev1.Pod) (container string, end *corev1.ContainerStateTerminated) {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if t := statuses[i].State.Terminated; t != nil && t.ExitCode != 0 {
				return statuses[i].Name, t
			}
		}
	}
	return "", nil
}

// saying is what a node said, fit for the end of a line.
func saying(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	if line == "" {
		return ""
	}
	if letters := []rune(line); len(letters) > mostOfMessage {
		line = string(letters[:mostOfMessage-1]) + "…"
	}
	return ": " + line
}

// limitText is a duration without the units that are nought at its end: 1h, not 1h0m0s.
func limitText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
