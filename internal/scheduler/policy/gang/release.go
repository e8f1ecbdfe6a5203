package gang

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	// releaseArgument says how long a gang may hold nodes with less than its minimum; 0s, the default: for ever. Action
	// shuffle does it.
	releaseArgument = "gang.release-broken"
	longestRelease  = 30 * 24 * time.Hour
)

func releaseFrom(arguments config.Arguments, warn func(string)) time.Duration {
	text := arguments.String(releaseArgument, "", warn)
	if text == "" {
		return 0
	}
	after, err := time.ParseDuration(text)
	if err != nil || after < 0 || after > longestRelease {
		warn(fmt.Sprintf("argument %s: want a duration from 0s to %s, have %q; broken gangs keep what they have", releaseArgument, longestRelease, text))
		return 0
	}
	return after
}

// releaseBroken has a gang give back what it holds when it has been broken for too long: two that wait for each other's
// nodes would wait for ever. One gang at a time, the one whose turn comes last: what it gives may make the others whole.
func (p *Policy) releaseBroken(s *session.Session) {
	if p.release <= 0 {
		return
	}
	s.Rules.Shuffle(session.Mover{Name: p.Name(), Victims: func() ([]*model.Task, string) {
		var last *session.Job
		for _, j := range s.AllWaiting {
			if p.due(s, j) && (last == nil || s.Rules.CompareJobs(last, j) < 0) {
				last = j
			}
		}
		if last == nil {
			return nil, ""
		}
		var tasks []*model.Task
		for _, t := range last.Tasks {
			if t.Status == model.Running || t.Status == model.Bound {
				tasks = append(tasks, t)
			}
		}
		return tasks, fmt.Sprintf("its gang has held nodes with less than its minimum for %s, and gives them back until all of it fits", p.release)
	}})
}

// due says whether a gang has been broken for too long. It has been since its PodGroup says that it cannot be scheduled.
func (p *Policy) due(s *session.Session, j *session.Job) bool {
	if !j.Broken() || len(j.Reserved)+len(j.Promised) > 0 || slices.ContainsFunc(j.Tasks, held) {
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

// held says whether a task keeps its node whatever happens: its gang could only give back a part.
func held(t *model.Task) bool { return t.Status.Allocated() && t.Protected() }
