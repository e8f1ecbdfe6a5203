// Package conformance protects the pods that the cluster itself needs: pods with a system priority class and pods in
// kube-system are never evicted.
package conformance

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the conformance policy.
type Policy struct{ conf config.Plugin }

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf} }

// Name returns "conformance".
func (*Policy) Name() string { return "conformance" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the guard.
func (p *Policy) Open(s *session.Session) {
	s.Rules.Guard(func(a *framework.Attack) framework.Guard {
		if !a.NeedsGuard(p.conf.Enabled("enablePreemptable"), p.conf.Enabled("enableReclaimable")) {
			return framework.Guard{}
		}
		return framework.Guard{Code: reason.SystemPod, Static: true, May: func(victims []*model.Task) (bool, string) {
			return !slices.ContainsFunc(victims, func(t *model.Task) bool { return t.Critical }), ""
		}}
	})
}
