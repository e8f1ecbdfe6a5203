// Package priority orders gangs and tasks by priority, and lets gangs evict pods with a lower priority in their queue.
//
//	In:   the PodGroup's priority class, the pods' priorities
//	Out:  rules JobOrder and TaskOrder; an entitlement for preempt and gangpreempt; JobStarving
package priority

import (
	"cmp"
	"fmt"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the priority policy.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name returns "priority".
func (*Policy) Name() string { return "priority" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	r := &s.Rules
	if p.conf.Enabled("enableTaskOrder") {
		r.TaskOrder = append(r.TaskOrder, func(a, b *model.Task) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	if p.conf.Enabled("enableJobOrder") {
		r.JobOrder = append(r.JobOrder, func(a, b *framework.Job) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	if p.conf.Enabled("enabledSubJobOrder") {
		r.GroupOrder = append(r.GroupOrder, func(a, b *framework.Group) int { return cmp.Compare(b.Priority(), a.Priority()) })
	}
	if p.conf.Enabled("enablePreemptable") {
		r.Entitle(grantHigherPriority, framework.Preempt, framework.GangPreempt)
		r.Outranks = append(r.Outranks, func(taker, victim *framework.Job) bool { return victim.Priority < taker.Priority })
	}
	if p.conf.Enabled("enableJobStarving") {
		r.Starve(func(j *framework.Job) bool { return len(j.Pending) > 0 })
	}
}

// grantHigherPriority grants the eviction of gangs with lower priority, and of tasks with lower priority in the taker's
// own gang.
func grantHigherPriority(a *framework.Attack) framework.Guard {
	return framework.Guard{
		Code: reason.NotLower, Static: true,
		Gang: func(g *model.Gang) bool { return g == a.Taker.Gang || g.Priority < a.Taker.Priority },
		May: func(victims []*model.Task) (bool, string) {
			for _, v := range victims {
				if taker, victim := comparedPriorities(a, v); victim >= taker {
					return false, ""
				}
			}
			return true, ""
		},
		Because: func(victims []*model.Task) string {
			taker, victim := comparedPriorities(a, victims[0])
			return fmt.Sprintf("the waiting gang has a higher priority (%d, compared with %d)", taker, victim)
		},
	}
}

// comparedPriorities returns the priorities of the taker and the victim that must be compared. Within a gang, these are
// the priorities of the tasks.
func comparedPriorities(a *framework.Attack, v *model.Task) (taker, victim int32) {
	if v.Gang == a.Taker.Gang {
		return a.Tasks[0].Priority, v.Priority
	}
	if v.Gang == nil {
		return a.Taker.Priority, v.Priority
	}
	return a.Taker.Priority, v.Gang.Priority
}
