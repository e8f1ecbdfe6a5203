package binpack

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Prefers nodes that are nearly full, so that others stay empty for large gangs.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: it gives no points"},
	},
	Arguments: []config.Option{
		{Key: "binpack.weight", Default: "1", Text: "weight of the whole; 0: no points"},
		{Key: "binpack.cpu", Default: "1", Text: "weight of cpu"},
		{Key: "binpack.memory", Default: "1", Text: "weight of memory"},
		{Key: "binpack.resources", Default: "", Text: "names of more resources that count, with commas between them"},
		{Key: "binpack.resources.<name>", Default: "1", Text: "weight of such a resource"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
