package session

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
)

// Policy takes part in decisions. One value serves all cycles of an engine. A policy registers its rules in every
// cycle and keeps no state between cycles that could change a decision.
type Policy interface {
	// Name returns the policy's name in the configuration, which is Volcano's name if Volcano has the policy.
	Name() string
	// Reads returns the switches and arguments in the policy's configuration entry that have an effect.
	Reads() config.Reads
	// Open registers rules and prepares the data that they need. The ledger already holds the queues' sums, but no
	// gang has been processed yet.
	Open(s *Session)
}

// Documented is a policy or an action that the reference of the configuration describes.
type Documented interface{ Manual() config.Manual }

// Judging is a policy that sets filters or score weights. It does so once, not in every cycle.
type Judging interface {
	Policy
	Configure(j *equivalence.Judge)
}

// Closing is a policy that is called at the end of a cycle.
type Closing interface {
	Policy
	Close(s *Session)
}
