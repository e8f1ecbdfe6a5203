package overcommit

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Lets gangs into their queues while what they ask for together is below a multiple of the cluster.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: it does nothing"},
	},
	Arguments: []config.Option{
		{Key: "overcommit-factor", Default: "1.2", Text: "the multiple, 1 or more"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
