package fairtree

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Orders gangs by Slurm's Fair Tree: the shares and the past usage of accounts and users decide, level by level, whose gangs go first. Gangs without an account go last. List this policy before drf, and use either this policy or fairshare.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: does not order gangs, but still records usage"},
	},
	Arguments: []config.Option{
		{Key: "fairtree.halfLife", Default: "168h", Text: "half-life of past usage; Slurm's PriorityDecayHalfLife"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
