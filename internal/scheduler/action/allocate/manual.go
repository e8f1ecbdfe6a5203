package allocate

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Places gangs, in the order of queues and gangs.",
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
