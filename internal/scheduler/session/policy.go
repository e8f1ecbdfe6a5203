package session

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/shape"
)

// Policy takes part in deciding. One value serves all cycles of an engine; it
// registers its rules anew in every cycle and keeps no state between cycles that
// could change a decision.
type Policy interface {
	// Name is Volcano's name of the policy.
	Name() string
	// Reads says which switches and arguments of its entry have an effect.
	Reads() config.Reads
	// Open registers rules and prepares what they need. The ledger holds the
	// queue's sums; no gang has been looked at yet.
	Open(s *Session)
}

// Documented is a policy or an action that the reference of the configuration
// tells of.
type Documented interface{ Manual() config.Manual }

// Judging is a policy that sets filters or score weights, once.
type Judging interface {
	Policy
	Configure(j *shape.Judge)
}

// Closing is a policy that hears of the end of a cycle.
type Closing interface {
	Policy
	Close(s *Session)
}

// Action is one step of a cycle.
type Action interface {
	Name() string
	Run(s *Session)
}

// Configurable is an action that reads arguments.
type Configurable interface {
	Action
	// Reads names the arguments that have an effect.
	Reads() []string
	// Configured is the action with its arguments; warn receives those that cannot be read.
	Configured(arguments config.Arguments, warn func(string)) Action
}
