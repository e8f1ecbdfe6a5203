// Package priority lets gangs and tasks of higher priority go first.
//
//	In:   the PodGroup's priority class, the pods' priorities
//	Out:  rules JobOrder and TaskOrder
package priority

import (
	"cmp"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy is the policy priority.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name is priority.
func (*Policy) Name() string { return "priority" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return config.Reads{Switches: []string{"enableTaskOrder", "enableJobOrder"}}
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if p.conf.Enabled("enableTaskOrder") {
		s.Rules.TaskOrder = append(s.Rules.TaskOrder, func(a, b *model.Task) int { return cmp.Compare(b.Priority, a.Priority) })
	}
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, func(a, b *session.Job) int { return cmp.Compare(b.Priority, a.Priority) })
	}
}
