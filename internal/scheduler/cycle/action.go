package cycle

import "github.com/vc-batch/vc/internal/scheduler/config"

// Action is one step of a cycle.
type Action interface {
	Name() string
	Run(s *Cycle)
}

// Configurable is an action that takes arguments.
type Configurable interface {
	Action
	// Reads returns the names of the arguments that the action uses.
	Reads() []string
	// Configured returns the action with the given arguments. It passes a warning about each invalid argument to
	// warn.
	Configured(arguments config.Arguments, warn func(string)) Action
}
