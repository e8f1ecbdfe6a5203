package enqueue

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Admits gangs to their queues. After that, their pods are created and their minimum counts against the queue. Without this action, every gang is admitted.",
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
