package reclaim

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Makes room for a gang out of queues that hold more than they deserve (proportion, capacity, drf with enableHierarchy).",
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
