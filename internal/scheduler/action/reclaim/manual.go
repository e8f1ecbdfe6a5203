package reclaim

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Evicts pods of queues that use more than their deserved share to make room for a gang of another queue (proportion, capacity, drf with enableHierarchy).",
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
