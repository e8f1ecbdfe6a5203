package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// RestorePod returns the state of a pod after the node's process was restarted, derived from the pod's status in the
// API. No container is running any more, because containers end with that process. Ended containers keep their results,
// and containers that were running have ended with code 137. What follows depends on the restart policy. A pod that
// must not restart fails, and other pods start their containers (and init containers) again.
func RestorePod(pod *corev1.Pod, now time.Time) *Pod {
	p := New(pod, now)
	lost := false
	for _, c := range p.Containers {
		if status := containerStatusOf(pod, c); status != nil {
			lost = c.restoreFrom(status, now) || lost
		}
	}
	if !lost {
		return p
	}
	if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		// According to the normal rules, the lost container makes the pod fail, so that no container is started again.
		p.ready = mainsStarted(p)
		return p
	}
	for _, c := range p.Containers {
		if c.Kind != Main {
			// The pod has a new network and new file systems, so the effects of its init containers are lost.
			c.runInitAgain()
		}
	}
	return p
}

func mainsStarted(p *Pod) bool {
	return slices.ContainsFunc(p.Containers, func(c *Container) bool { return c.Kind == Main && c.End != nil })
}

func containerStatusOf(pod *corev1.Pod, c *Container) *corev1.ContainerStatus {
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

// restoreFrom sets the state of a container from its status. It returns true if the container was running.
func (c *Container) restoreFrom(status *corev1.ContainerStatus, now time.Time) bool {
	c.Attempt, c.ID = int(status.RestartCount), status.ContainerID
	c.Last = endFromTerminated(status.LastTerminationState.Terminated)
	switch {
	case status.State.Terminated != nil:
		c.Stage, c.End = Ended, endFromTerminated(status.State.Terminated)
	case status.State.Running != nil:
		c.Stage = Ended
		c.End = &End{
			Code: 137, Reason: ReasonNodeStopped, ID: status.ContainerID, StartedAt: status.State.Running.StartedAt.Time, FinishedAt: now,
			Message: "the node's process exited while the container was running",
		}
		return true
	case c.Last != nil:
		// The container was waiting to be restarted.
		c.Stage, c.restarting, c.End = Waiting, true, c.Last
	}
	return false
}

// runInitAgain makes an init container run once more.
func (c *Container) runInitAgain() {
	if c.Stage == Ended {
		c.Stage, c.restarting = Waiting, true
	}
}

func endFromTerminated(t *corev1.ContainerStateTerminated) *End {
	if t == nil {
		return nil
	}
	return &End{
		Code: int(t.ExitCode), Signal: int(t.Signal), Reason: t.Reason, Message: t.Message,
		StartedAt: t.StartedAt.Time, FinishedAt: t.FinishedAt.Time, ID: t.ContainerID,
	}
}
