// Package gangreclaim makes room for a gang by evicting whole gangs of queues that use more than they deserve. If the
// gang must run within one domain of the network topology, the victims are in that domain.
package gangreclaim

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Action implements the gangreclaim action.
type Action struct {
	// Domains is the maximum number of domains to try; 0 for evict.DefaultDomains.
	Domains int
	// SurplusOnly is true if gangs may lose only pods beyond their minimum.
	SurplusOnly bool
}

// Name returns "gangreclaim".
func (Action) Name() string { return "gangreclaim" }

// Run tries to make room for each starving gang, in the order of queues and gangs.
func (a Action) Run(s *cycle.Cycle) {
	evict.Run(s, evict.Case{Kind: framework.GangReclaim, Domains: a.Domains, Surplus: a.SurplusOnly})
}

// Reads returns the arguments that have an effect.
func (Action) Reads() []string { return manual.Reads().Arguments }

// Configured returns a copy of the action with the given arguments applied.
func (a Action) Configured(arguments config.Arguments, warn func(string)) cycle.Action {
	a.Domains, a.SurplusOnly = evict.ParseBundles(arguments, warn)
	return a
}
