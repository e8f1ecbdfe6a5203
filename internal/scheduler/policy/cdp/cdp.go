// Package cdp protects pods from eviction during a cooldown time. A pod with the label or annotation
// volcano.sh/cooldown-time is not evicted until it has been bound for the given time.
//
//	In:   the pod's cooldown time, and the time when the pod was bound
//	Out:  a guard for preempt and reclaim; another cycle at the end of a cooldown that a gang is waiting for
package cdp

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the cdp policy.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name returns "cdp".
func (*Policy) Name() string { return "cdp" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the guard and the warnings about invalid cooldown times.
func (p *Policy) Open(s *session.Session) {
	s.Rules.Remarks = append(s.Rules.Remarks, cooldownWarnings)
	s.Rules.Guard(func(a *framework.Attack) framework.Guard {
		if !a.NeedsGuard(p.conf.Enabled("enablePreemptable"), p.conf.Enabled("enableReclaimable")) {
			return framework.Guard{}
		}
		return framework.Guard{Code: reason.InCooldown, May: func(victims []*model.Task) (bool, string) {
			ok := true
			for _, t := range victims {
				if until := CooldownEnd(t); s.Now.Before(until) {
					ok = false
					if a.Taker != nil {
						s.AttackAt(a.Taker, until)
					}
				}
			}
			return ok, ""
		}}
	})
}

// CooldownEnd returns the end of a task's cooldown, or the zero time if the task has no cooldown. An invalid or
// negative duration means no cooldown. If the time of binding is unknown, the cooldown starts when the pod is created.
func CooldownEnd(t *model.Task) time.Time {
	text, ok := cooldownText(t)
	if !ok {
		return time.Time{}
	}
	cooldown, err := time.ParseDuration(text)
	if err != nil || cooldown <= 0 {
		return time.Time{}
	}
	bound := t.BoundAt
	if bound.IsZero() {
		bound = t.Created
	}
	return bound.Add(cooldown)
}

// cooldownText returns the text of a task's cooldown time, from its label or else from its annotation.
func cooldownText(t *model.Task) (text string, given bool) {
	if text, given = t.Labels[keys.CooldownTime]; !given {
		text, given = t.Annotations[keys.CooldownTime]
	}
	return text, given
}

// cooldownWarnings returns warnings for invalid cooldown times.
func cooldownWarnings(j *framework.Job) (texts []string) {
	for _, t := range j.Tasks {
		text, given := cooldownText(t)
		if !given {
			continue
		}
		if cooldown, err := time.ParseDuration(text); err != nil || cooldown < 0 {
			texts = append(texts, fmt.Sprintf("%s: must be a duration such as 10m, not %q; the pod has no cooldown", keys.CooldownTime, text))
		}
	}
	return texts
}
