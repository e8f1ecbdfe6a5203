package overcommit

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Admits gangs to their queues while the sum of their requests is below a multiple of the cluster's capacity.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: disables the policy"},
	},
	Arguments: []config.Option{
		{Key: "overcommit-factor", Default: "1.2", Text: "factor by which the cluster's capacity is multiplied, at least 1"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
