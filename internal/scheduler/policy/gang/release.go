package gang

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// releaseArgument sets how long a gang may hold nodes with less than its minimum. The default, 0s, means forever.
	// After this time, the shuffle action evicts the gang's pods.
	releaseArgument = "gang.release-broken"
	// windowArgument sets how long after its last binding a gang that never reached its minimum may hold nodes. It
	// applies if a binding was rejected and the rest of the gang does not fit, because other pods use the resources. 0s
	// means forever, as in Volcano.
	windowArgument = "gang.bind-window"
	usualWindow    = 30 * time.Second
	longestRelease = 30 * 24 * time.Hour
)

func parseReleaseTime(arguments config.Arguments, warn func(string)) time.Duration {
	return parseDuration(arguments, releaseArgument, 0, longestRelease, "broken gangs keep their resources", warn)
}

// parseDuration parses an argument. If the argument is missing or invalid, parseDuration returns usual. The warning
// uses the text in instead to describe this.
func parseDuration(arguments config.Arguments, key string, usual, longest time.Duration, instead string, warn func(string)) time.Duration {
	text := arguments.String(key, "", warn)
	if text == "" {
		return usual
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest {
		warn(fmt.Sprintf("argument %s: must be a duration from 0s to %s, not %q; %s", key, longest, text, instead))
		return usual
	}
	return d
}

// releaseBroken registers the eviction of a gang that has been broken for too long, because two gangs that are waiting
// for each other's nodes would otherwise wait forever. Action shuffle evicts one gang at a time, the last in scheduling
// order, whose resources may allow the other gangs to become complete.
func (p *Policy) releaseBroken(s *session.Session) {
	if p.release <= 0 {
		return
	}
	s.Rules.Shuffle(framework.Mover{Name: p.Name(), Victims: func() ([]*model.Task, string) {
		return tasksOnNodes(lastWaiting(s, p.isDueForRelease)), fmt.Sprintf("the gang has run below its minimum for %s and releases its nodes until the whole gang fits", p.release)
	}})
}

// releasePartial registers the eviction of a gang that should have started as a whole but did not.
func (p *Policy) releasePartial(s *session.Session) {
	if p.window <= 0 || !s.Rules.Gang {
		return
	}
	s.Rules.Releases = append(s.Rules.Releases, framework.Mover{Name: p.Name(), Tier: s.Rules.Tier, Victims: func() ([]*model.Task, string) {
		j := lastWaiting(s, p.isPartlyBound)
		if j == nil {
			return nil, ""
		}
		return tasksOnNodes(j), fmt.Sprintf("only %d of the minimum of %d pods are bound, and the other pods have not fit for %s, so the gang releases its resources until the whole gang fits",
			j.AllocatedTasks(), j.MinMember, p.window)
	}})
}

// lastWaiting returns the last waiting gang, in scheduling order, for which matches returns true, or nil if none exists.
func lastWaiting(s *session.Session, matches func(*session.Session, *framework.Job) bool) (last *framework.Job) {
	for _, j := range s.AllWaiting {
		if matches(s, j) && (last == nil || s.Rules.CompareJobs(last, j) < 0) {
			last = j
		}
	}
	return last
}

// tasksOnNodes returns the tasks of a gang that occupy a node.
func tasksOnNodes(j *framework.Job) (tasks []*model.Task) {
	if j == nil {
		return nil
	}
	for _, t := range j.Tasks {
		if t.Status == model.Running || t.Status == model.Bound {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// isPartlyBound reports whether only part of a gang was bound, the gang never reached its minimum, and the rest did not
// fit within the bind window. A gang with too few pods does not count, because it is waiting for the missing pods.
func (p *Policy) isPartlyBound(s *session.Session, j *framework.Job) bool {
	if !j.IsBroken() || j.ReadyTasks() > j.AllocatedTasks() {
		return false
	}
	if j.HasPromisedResources() || slices.ContainsFunc(j.Tasks, mustKeepNode) {
		return false
	}
	switch j.Verdict.Code {
	case "", reason.NotEnoughPods, reason.SchedulingGated:
		return false
	}
	for i := range j.Status.Conditions { // the gang had reached its minimum at some time
		if j.Status.Conditions[i].Type == schedulingv1beta1.PodGroupScheduledType {
			return false
		}
	}
	var last time.Time
	for _, t := range j.Tasks {
		if !t.Status.IsAllocated() {
			continue
		}
		if !t.Ours || t.Status == model.Binding || t.BoundAt.IsZero() {
			return false
		}
		if t.BoundAt.After(last) {
			last = t.BoundAt
		}
	}
	at := last.Add(p.window)
	if s.Now.Before(at) {
		s.WakeAt(at)
		return false
	}
	return true
}

// isDueForRelease reports whether a gang has been broken for too long, counted from the time when its PodGroup was
// marked unschedulable.
func (p *Policy) isDueForRelease(s *session.Session, j *framework.Job) bool {
	if !j.IsBroken() || j.HasPromisedResources() || slices.ContainsFunc(j.Tasks, mustKeepNode) {
		return false
	}
	for i := range j.Status.Conditions {
		c := &j.Status.Conditions[i]
		if c.Type != schedulingv1beta1.PodGroupUnschedulableType || c.Status != corev1.ConditionTrue {
			continue
		}
		at := c.LastTransitionTime.Add(p.release)
		if !s.Now.Before(at) {
			return true
		}
		s.WakeAt(at)
	}
	return false
}

// mustKeepNode reports whether a task must keep its node. If so, its gang could release only part of its pods.
func mustKeepNode(t *model.Task) bool { return t.Status.IsAllocated() && t.IsProtected() }
