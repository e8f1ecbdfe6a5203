package shuffle

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Evicts pods without a waiting gang, where policies request it (tdm, rescheduling, gang).",
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
