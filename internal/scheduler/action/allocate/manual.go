package allocate

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Places gangs on nodes, in the order of the queues and of the gangs in each queue.",
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
