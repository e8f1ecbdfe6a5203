package cycle

import "github.com/vc-batch/vc/internal/scheduler/config"

// Action is one step of a cycle.
type Action interface {
	Name() string
	Run(s *Cycle)
}

// Configurable is an action that reads arguments.
type Configurable interface {
	Action
	// Reads returns the arguments that have an effect.
	Reads() []string
	// Configured returns the action with its arguments. It reports invalid arguments to warn.
	Configured(arguments config.Arguments, warn func(string)) Action
}
