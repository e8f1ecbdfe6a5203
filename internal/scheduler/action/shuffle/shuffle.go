// Package shuffle moves what runs, for nobody's sake: policies name pods that
// should leave their nodes, guards of all policies may keep them, and gangs lose
// what they have beyond their minimum, or all of themselves.
package shuffle

import (
	"github.com/vc-batch/vc/internal/scheduler/evict"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Action is the action shuffle.
type Action struct{}

// Name is shuffle.
func (Action) Name() string { return "shuffle" }

// Run evicts what the first tier names that names anything.
func (Action) Run(s *session.Session) { evict.Shuffle(s) }
