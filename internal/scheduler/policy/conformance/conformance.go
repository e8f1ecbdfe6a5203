// Package conformance protects what the cluster itself needs: pods of the system
// priority classes and of kube-system are never evicted.
package conformance

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy is the policy conformance.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name is conformance.
func (*Policy) Name() string { return "conformance" }

// Reads says which switches and arguments have an effect.
func (*Policy) Reads() config.Reads {
	return config.Reads{Switches: []string{"enableReclaimable", "enablePreemptable"}}
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if p.conf.Enabled("enableReclaimable") || p.conf.Enabled("enablePreemptable") {
		s.Rules.Protected = append(s.Rules.Protected, func(t *model.Task) bool { return t.Critical })
	}
}
