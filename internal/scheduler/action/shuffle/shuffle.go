// Package shuffle evicts running pods without a gang that needs their resources. Policies select pods that should
// leave their nodes, the guards of all policies may protect them, and gangs lose the pods beyond their minimum or
// all their pods.
package shuffle

import (
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action shuffle.
type Action struct{}

// Name returns shuffle.
func (Action) Name() string { return "shuffle" }

// Run evicts the pods selected by the first tier that selects any.
func (Action) Run(s *session.Session) { evict.Shuffle(s) }
