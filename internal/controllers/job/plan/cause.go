package plan

import (
	"cmp"
	"fmt"
	"slices"
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

// What controllers of Kubernetes write as the reason of a pod's disruption when its node is gone, or not reachable.
const (
	byPodGC        = "DeletionByPodGC"
	byTaintManager = "DeletionByTaintManager"
	evictionByAPI  = "EvictionByEvictionAPI"
)

// mostOfMessage is how many characters of a node's own words are repeated: they end up in a column.
const mostOfMessage = 100

// Cause is why a pod failed, or vanished: a code for scripts, some words for people, and how its container ended, where one did.
type Cause struct {
	code reason.Code
	text string
	exit *int32
}

// failure is the cause in a status; of what is no pod's doing there is none.
func (c *Cause) failure() *batch.JobFailure {
	if c == nil || c.code == "" {
		return nil
	}
	return &batch.JobFailure{Reason: string(c.code), Message: c.text, ExitCode: c.exit}
}

// word is the code as a status has it; empty where there is none.
func (c *Cause) word() string {
	if c == nil {
		return ""
	}
	return string(c.code)
}

// blame writes a failure into a status; what is known of one that came before stays when nothing is.
func blame(status *batch.JobStatus, c *Cause) {
	if f := c.failure(); f != nil {
		status.Failure = f
	}
}

// judge is settle, with what led to the phase; a failure names the first pod that failed before the rule that this broke.
func (b *builder) judge(n *counters) (phase batch.JobPhase, failed *Cause, why string) {
	phase, why = settle(b.job, n)
	if phase == batch.Pending || phase == batch.Running {
		if c := b.hopeless(n); c != nil {
			return batch.Failed, c, c.text
		}
	}
	if phase != batch.Failed || b.phase() == batch.Failed {
		return phase, nil, why
	}
	first := b.firstFailed()
	if first == nil {
		return phase, nil, why
	}
	c := b.causeOfMember(first)
	if b.phase() == batch.Running && n.succeeded == 0 {
		return phase, &c, c.text // nothing went well: the rule says nothing more
	}
	return phase, &c, c.text + "; " + why
}

// causeOfMember is why a pod failed that is there.
func (b *builder) causeOfMember(m *member) Cause { return b.causeAt(m.place, m.pod) }

// causeOfLost is why a pod vanished, or had failed before it did; nil when nothing was seen of it.
func (b *builder) causeOfLost(l *Lost, place Place) *Cause {
	switch {
	case l.Pod == nil:
		return nil
	case l.Failed:
		return new(b.causeAt(place, l.Pod))
	}
	return new(causeOfGoing(b.nameOf(place), l.Pod))
}

// causeAt is causeOf for the pod of a place, whose spec the cache may have dropped: the job knows it.
func (b *builder) causeAt(place Place, pod *corev1.Pod) Cause {
	if len(pod.Spec.Containers) == 0 {
		whole, template := *pod, &b.job.Spec.Tasks[place.Task].Template.Spec
		whole.Spec.Containers, whole.Spec.InitContainers = template.Containers, template.InitContainers
		whole.Spec.ActiveDeadlineSeconds = cmp.Or(pod.Spec.ActiveDeadlineSeconds, template.ActiveDeadlineSeconds)
		pod = &whole
	}
	return causeOf(b.nameOf(place), pod)
}

// nameOf names a pod by its task and index.
func (b *builder) nameOf(p Place) string {
	return fmt.Sprintf("%s-%d", b.job.Spec.Tasks[p.Task].Name, p.Index)
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

// causeOf reads out of a failed pod why it failed.
func causeOf(name string, pod *corev1.Pod) Cause {
	c := wordOf(name, pod)
	if _, end := firstBadEnd(pod); end != nil {
		c.exit = &end.ExitCode
	}
	return c
}

// wordOf is causeOf without the exit code. What was done to the pod goes first, then what the node says of it as a whole: the ends of its containers
// follow from that.
func wordOf(name string, pod *corev1.Pod) Cause {
	if Refused(pod) {
		return causeOfRefusal(name, pod)
	}
	if c, ok := disruption(name, pod); ok {
		return c
	}
	switch pod.Status.Reason {
	case "":
	case nodeDeadline:
		text := name + " was over its time limit"
		if limit := pod.Spec.ActiveDeadlineSeconds; limit != nil {
			text += " of " + limitText(time.Duration(*limit)*time.Second)
		}
		return Cause{code: reason.DeadlineExceeded, text: text}
	case nodeEvicted:
		return Cause{code: reason.Evicted, text: name + " was evicted by its node" + saying(pod.Status.Message)}
	default:
		return Cause{code: reason.PodFailed, text: fmt.Sprintf("%s failed (%s)%s", name, pod.Status.Reason, saying(pod.Status.Message))}
	}
	if container, end := firstBadEnd(pod); end != nil {
		if len(pod.Spec.InitContainers)+len(pod.Spec.Containers) > 1 {
			name += " container " + container
		}
		return causeOfEnd(name, end)
	}
	return Cause{code: reason.PodFailed, text: name + " failed" + saying(pod.Status.Message)}
}

func causeOfEnd(name string, end *corev1.ContainerStateTerminated) Cause {
	switch end.Reason {
	case nodeStartError, nodeCannotRun:
		return Cause{code: reason.StartError, text: name + " could not start" + saying(end.Message)}
	case nodeOutOfMemory:
		return Cause{code: reason.OOMKilled, text: name + " used more memory than it may"}
	case nodeStopped, nodeLostSight:
		return Cause{code: reason.NodeStopped, text: name + ": the node was stopped"}
	}
	return Cause{code: reason.PodFailed, text: fmt.Sprintf("%s exited with code %d", name, end.ExitCode)}
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

// causeOfGoing is why a pod vanished that nobody here stopped: what its conditions say, else that it was evicted.
func causeOfGoing(name string, pod *corev1.Pod) Cause {
	if c, ok := disruption(name, pod); ok {
		return c
	}
	return Cause{code: reason.Evicted, text: name + " was evicted"}
}

// disruption is what a pod's condition of that name says.
func disruption(name string, pod *corev1.Pod) (c Cause, ok bool) {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
	if at < 0 {
		return Cause{}, false
	}
	switch said := &pod.Status.Conditions[at]; said.Reason {
	case corev1.PodReasonPreemptionByScheduler:
		return Cause{code: reason.Preempted, text: name + " made room for others" + saying(said.Message)}, true
	case byPodGC, byTaintManager:
		return Cause{code: reason.NodeStopped, text: name + ": the node was lost" + saying(said.Message)}, true
	default:
		return Cause{code: reason.Evicted, text: name + " was evicted" + saying(said.Message)}, true
	}
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
