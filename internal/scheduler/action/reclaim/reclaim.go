// Package reclaim lets a queue take back what it deserves from queues that hold more. For each starving gang it
// evicts as few victims as the gang needs to start, or none.
package reclaim

import (
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action reclaim.
type Action struct{}

// Name returns reclaim.
func (Action) Name() string { return "reclaim" }

// Run visits the starving gangs in the order of queues and gangs.
func (Action) Run(s *session.Session) { evict.Run(s, evict.Case{Kind: session.Reclaim}) }
