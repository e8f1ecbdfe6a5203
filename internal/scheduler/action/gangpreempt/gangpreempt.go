// Package gangpreempt makes room for a gang inside its queue, gang by gang, inside one
// domain of the network where the gang wants that.
package gangpreempt

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action gangpreempt.
type Action struct {
	// Domains is how many domains are looked at, 0: evict.DefaultDomains.
	Domains int
	// SurplusOnly: gangs are not broken.
	SurplusOnly bool
}

// Name is gangpreempt.
func (Action) Name() string { return "gangpreempt" }

// Run goes through the starving gangs, in the order of queues and gangs.
func (a Action) Run(s *session.Session) {
	evict.Run(s, evict.Case{Kind: session.GangPreempt, Domains: a.Domains, Surplus: a.SurplusOnly})
}

// Reads names the arguments that have an effect.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured takes the arguments.
func (a Action) Configured(arguments config.Arguments, warn func(string)) session.Action {
	a.Domains, a.SurplusOnly = evict.Bundles(arguments, warn)
	return a
}
