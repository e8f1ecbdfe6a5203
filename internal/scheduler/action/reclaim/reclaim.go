// Package reclaim takes resources back for a queue that has less than it deserves from queues that have more. For
// each starving gang, it evicts as few victims as the gang needs to start, or none.
package reclaim

import (
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Action implements the reclaim action.
type Action struct{}

// Name returns "reclaim".
func (Action) Name() string { return "reclaim" }

// Run tries to make room for each starving gang, in the order of queues and gangs.
func (Action) Run(s *cycle.Cycle) { evict.Run(s, evict.Case{Kind: framework.Reclaim}) }
