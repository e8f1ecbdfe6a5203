package backfill

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Places pods that request no resources. If run times are known, gangs can start before the first gang in their queue if they do not delay that gang.",
	Arguments: []config.Option{
		{Key: "easy", Default: "true", Text: "false: gangs that cannot start get no reservation, as in Volcano"},
	},
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
