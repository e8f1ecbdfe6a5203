package binpack

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Prefers nodes that are nearly full, so that other nodes stay empty for large gangs.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes"},
	},
	Arguments: []config.Option{
		{Key: "binpack.weight", Default: "1", Text: "weight of this policy; 0: does not score nodes"},
		{Key: "binpack.cpu", Default: "1", Text: "weight of cpu"},
		{Key: "binpack.memory", Default: "1", Text: "weight of memory"},
		{Key: "binpack.resources", Default: "", Text: "comma-separated names of additional resources"},
		{Key: "binpack.resources.<name>", Default: "1", Text: "weight of an additional resource"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
