package shuffle

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Takes pods off nodes for nobody's sake, where policies say so (tdm, rescheduling, gang).",
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
