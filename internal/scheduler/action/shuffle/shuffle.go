// Package shuffle evicts running pods although no gang waits for their resources. Policies select pods that should
// leave their nodes, and the guards of all policies may protect them. A gang loses either only pods beyond its
// minimum or all its pods.
package shuffle

import (
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/evict"
)

// Action implements the shuffle action.
type Action struct{}

// Name returns "shuffle".
func (Action) Name() string { return "shuffle" }

// Run evicts the pods selected by the first tier that selects any pods.
func (Action) Run(s *cycle.Cycle) { evict.Shuffle(s) }
