// Package gangpreempt makes room for a gang inside its queue by evicting whole gangs, within one domain of the
// network topology if the gang requires that.
package gangpreempt

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action gangpreempt.
type Action struct {
	// Domains is the maximum number of domains to try; 0 for evict.DefaultDomains.
	Domains int
	// SurplusOnly is true if gangs lose only the pods beyond their minimum.
	SurplusOnly bool
}

// Name returns gangpreempt.
func (Action) Name() string { return "gangpreempt" }

// Run visits the starving gangs in the order of queues and gangs.
func (a Action) Run(s *session.Session) {
	evict.Run(s, evict.Case{Kind: session.GangPreempt, Domains: a.Domains, Surplus: a.SurplusOnly})
}

// Reads returns the arguments that have an effect.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured returns the action with its arguments.
func (a Action) Configured(arguments config.Arguments, warn func(string)) session.Action {
	a.Domains, a.SurplusOnly = evict.Bundles(arguments, warn)
	return a
}
