package allocate

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual is what can be set.
var manual = config.Manual{
	Text: "Places gangs, in the order of queues and gangs.",
}

// Manual is the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
