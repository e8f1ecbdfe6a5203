package enqueue

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Lets gangs into their queues: from then on their pods are made, and their minimum counts. Without it every gang is in.",
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
