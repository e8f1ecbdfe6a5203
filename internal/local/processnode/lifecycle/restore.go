package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Restore is the pod as its status in the API tells, after the node's process was gone: what ran is dead, since pods die with
// it. Containers that had ended keep their ends; those that ran ended with code 137. The restart policy decides the rest: a pod
// that must not restart fails, others start their containers (and init containers) again.
func Restore(pod *corev1.Pod, now time.Time) *Pod {
	p := New(pod, now)
	lost := false
	for _, c := range p.Containers {
		if status := statusOf(pod, c); status != nil {
			lost = c.restore(status, now) || lost
		}
	}
	if !lost {
		return p
	}
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		// The lost container fails the pod by the ordinary rules; nothing of it runs again.
		p.ready = mainsStarted(p)
		return p
	}
	for _, c := range p.Containers {
		if c.Kind != Main {
			// The pod's network and roots are new: what init containers did is gone with the old ones.
			c.again()
		}
	}
	return p
}

func mainsStarted(p *Pod) bool {
	for _, c := range p.Containers {
		if c.Kind == Main && c.End != nil {
			return true
		}
	}
	return false
}

func statusOf(pod *corev1.Pod, c *Container) *corev1.ContainerStatus {
	list := pod.Status.ContainerStatuses
	if c.Kind != Main {
		list = pod.Status.InitContainerStatuses
	}
	for i := range list {
		if list[i].Name == c.Spec.Name {
			return &list[i]
		}
	}
	return nil
}

// restore takes over one container's status; true if the container ran.
func (c *Container) restore(status *corev1.ContainerStatus, now time.Time) bool {
	c.Attempt, c.ID = int(status.RestartCount), status.ContainerID
	c.Last = endOf(status.LastTerminationState.Terminated)
	switch {
	case status.State.Terminated != nil:
		c.Stage, c.End = Ended, endOf(status.State.Terminated)
	case status.State.Running != nil:
		c.Stage = Ended
		c.End = &End{
			Code: 137, Reason: ReasonNodeStopped, ID: status.ContainerID, StartedAt: status.State.Running.StartedAt.Time, FinishedAt: now,
			Message: "the node's process ended while the container ran",
		}
		return true
	case c.Last != nil:
		// It waited to start again.
		c.Stage, c.restarting, c.End = Waiting, true, c.Last
	}
	return false
}

// again makes an init container run once more.
func (c *Container) again() {
	if c.Stage == Ended {
		c.Stage, c.restarting = Waiting, true
	}
}

func endOf(t *corev1.ContainerStateTerminated) *End {
	if t == nil {
		return nil
	}
	return &End{
		Code: int(t.ExitCode), Signal: int(t.Signal), Reason: t.Reason, Message: t.Message,
		StartedAt: t.StartedAt.Time, FinishedAt: t.FinishedAt.Time, ID: t.ContainerID,
	}
}
