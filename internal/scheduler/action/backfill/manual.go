package backfill

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Places pods without requests. If run times are known, gangs can start before the first gang of their queue as long as they do not delay it.",
	Arguments: []config.Option{
		{Key: "easy", Default: "true", Text: "false: gangs that cannot start get no reservation, as in Volcano"},
	},
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
