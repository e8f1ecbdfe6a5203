package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Verb is the kind of an action on a container.
type Verb int

// Kinds of actions.
const (
	Start Verb = iota
	StopGently
	Kill
)

// Action is an action on a container.
type Action struct {
	Verb      Verb
	Container *Container
	Until     time.Time // for StopGently, the time when Kill follows
}

// Next advances the state. It returns the actions to carry out now, and the latest time of the next call; a zero time
// means that the next call is needed only after an event.
func (p *Pod) Next(now time.Time, policy BackOff) (actions []Action, wake time.Time) {
	d := &decision{pod: p, now: now, policy: policy}
	if p.stop == nil {
		d.checkDeadline()
	}
	switch {
	case p.stop != nil:
		d.stopEverything(p.stop.By)
	default:
		d.startContainers()
	}
	d.killOverdue()
	return d.actions, d.wake
}

type decision struct {
	pod     *Pod
	now     time.Time
	policy  BackOff
	actions []Action
	wake    time.Time
}

func (d *decision) requestWake(t time.Time) {
	if d.wake.IsZero() || t.Before(d.wake) {
		d.wake = t
	}
}

func (d *decision) checkDeadline() {
	seconds := d.pod.API.Spec.ActiveDeadlineSeconds
	if seconds == nil || d.pod.finished {
		return
	}
	deadline := d.pod.StartedAt.Add(time.Duration(*seconds) * time.Second)
	if d.now.Before(deadline) {
		d.requestWake(deadline)
		return
	}
	d.pod.stop = &Stop{By: d.now.Add(d.gracePeriod()), Reason: ReasonDeadline}
}

func (d *decision) gracePeriod() time.Duration {
	if seconds := d.pod.API.Spec.TerminationGracePeriodSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return 30 * time.Second
}

// startContainers starts the containers that may start, and checks whether the pod has ended.
func (d *decision) startContainers() {
	p := d.pod
	if !p.Prepared {
		return
	}
	if !p.ready && !p.finished {
		p.ready = d.runInitContainers()
	}
	if p.ready && !p.finished {
		over := true
		for _, c := range p.Containers {
			if c.Kind == Main {
				over = d.startIfDue(c) && over
			}
		}
		for _, c := range p.Containers {
			if c.Kind == Sidecar && !over {
				d.startIfDue(c)
			}
		}
		p.finished = over
	}
	if p.finished || p.failed {
		p.finished = true
		d.stopEverything(d.now.Add(d.gracePeriod()))
	}
}

// runInitContainers processes the init containers in order. It returns true when the main containers may start.
func (d *decision) runInitContainers() bool {
	for _, c := range d.pod.Containers {
		switch c.Kind {
		case Init:
			if c.Stage == Ended && c.End.Code == 0 {
				continue
			}
			if d.startIfDue(c) {
				d.pod.failed = true
			}
			return false
		case Sidecar:
			d.startIfDue(c)
			if !c.Started {
				return false
			}
		}
	}
	return true
}

// startIfDue starts the container if its start is due. It returns true if the container will never start again.
func (d *decision) startIfDue(c *Container) bool {
	if c.Stage == Ended {
		if !d.mayRestart(c) {
			return true
		}
		d.scheduleRestart(c)
	}
	if c.Stage != Waiting {
		return false
	}
	if d.now.Before(c.notBefore) {
		d.requestWake(c.notBefore)
		return false
	}
	if c.restarting {
		c.restarting = false
		c.Attempt++
		c.Last, c.End = c.End, nil
	}
	c.Stage, c.stopBy, c.killed = Starting, time.Time{}, false
	d.actions = append(d.actions, Action{Verb: Start, Container: c})
	return false
}

func (d *decision) mayRestart(c *Container) bool {
	switch c.Kind {
	case Sidecar:
		return true
	case Init:
		// an init container that succeeded gets here only if no later container has run
		return c.End.Code != 0 && d.pod.API.Spec.RestartPolicy != corev1.RestartPolicyNever
	}
	switch d.pod.API.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return c.End.Code != 0
	}
	return true
}

// scheduleRestart schedules the restart of an ended container. The first restart is immediate. The delay before further
// restarts grows as long as the container keeps ending soon after its start.
func (d *decision) scheduleRestart(c *Container) {
	c.Stage, c.restarting = Waiting, true
	if c.End.FinishedAt.Sub(c.End.StartedAt) >= backOffForgiveAfter {
		c.backOff = 0
	}
	c.notBefore = c.End.FinishedAt.Add(c.backOff)
	c.waitReason, c.waitMessage = "", ""
	if c.backOff > 0 {
		c.waitReason = ReasonBackOff
		c.waitMessage = "back-off " + c.backOff.String() + " restarting failed container=" + c.Spec.Name + " pod=" + d.pod.API.Name + "_" + d.pod.API.Namespace
		c.backOff = min(2*c.backOff, d.policy.Max)
		return
	}
	c.backOff = d.policy.Base
}

// stopEverything stops the main containers at once, and then the sidecars in reverse order.
func (d *decision) stopEverything(by time.Time) {
	mains := false
	for _, c := range d.pod.Containers {
		if c.Kind != Sidecar && c.isContainerActive() {
			mains = true
			d.stopContainer(c, by)
		}
	}
	for i := len(d.pod.Containers) - 1; i >= 0 && !mains; i-- {
		if c := d.pod.Containers[i]; c.Kind == Sidecar && c.isContainerActive() {
			d.stopContainer(c, by)
			return
		}
	}
}

func (d *decision) stopContainer(c *Container, by time.Time) {
	if c.Stage == Running {
		c.Stage, c.stopBy = Stopping, by
		d.actions = append(d.actions, Action{Verb: StopGently, Container: c, Until: by})
	}
}

// RestartContainer stops a container that failed its probe. The restart policy then decides whether it starts again.
func (p *Pod) RestartContainer(c *Container, grace time.Duration, now time.Time) (Action, bool) {
	if c.Stage != Running {
		return Action{}, false
	}
	c.Stage, c.stopBy = Stopping, now.Add(grace)
	return Action{Verb: StopGently, Container: c, Until: c.stopBy}, true
}

func (d *decision) killOverdue() {
	for _, c := range d.pod.Containers {
		if c.Stage != Stopping || c.killed {
			continue
		}
		if d.now.Before(c.stopBy) {
			d.requestWake(c.stopBy)
			continue
		}
		c.killed = true
		d.actions = append(d.actions, Action{Verb: Kill, Container: c})
	}
}
