package tasktopology

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Puts tasks of a gang together or apart by `volcano.sh/task-topology-affinity`, `-anti-affinity` and `-task-order`.",
	Switches: []config.Option{
		{Key: "enableTaskOrder", Default: "true", Text: "off: it does not order tasks"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: it gives no points"},
	},
	Arguments: []config.Option{
		{Key: "task-topology.weight", Default: "1", Text: "weight of its points; 0: none"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
