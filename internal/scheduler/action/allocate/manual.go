package allocate

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Places gangs in the order of queues, and of gangs within each queue.",
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
