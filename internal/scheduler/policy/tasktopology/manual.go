package tasktopology

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Places a gang's tasks on the same node or on different nodes, based on `volcano.sh/task-topology-affinity`, `-anti-affinity` and `-task-order`.",
	Switches: []config.Option{
		{Key: "enableTaskOrder", Default: "true", Text: "off: does not order tasks"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes"},
	},
	Arguments: []config.Option{
		{Key: "task-topology.weight", Default: "1", Text: "weight of this policy; 0: does not score nodes"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
