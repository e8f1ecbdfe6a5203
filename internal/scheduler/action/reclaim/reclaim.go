// Package reclaim lets a queue take back what it deserves from queues that hold
// more: for each of its starving gangs as few victims as make it fit, or none.
package reclaim

import (
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action reclaim.
type Action struct{}

// Name is reclaim.
func (Action) Name() string { return "reclaim" }

// Run goes through the starving gangs, in the order of queues and gangs.
func (Action) Run(s *session.Session) { evict.Run(s, evict.Case{Kind: session.Reclaim}) }
