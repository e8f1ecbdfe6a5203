package nodegroup

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Keeps queues on groups of nodes (label `volcano.sh/nodegroup-name`), by the affinity in the queue's spec and by limits of what it may hold in a group.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: no node is refused"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: preferred groups get no points"},
		{Key: "enableHierarchy", Default: "false", Text: "on: a queue without affinity has that of its nearest ancestor"},
	},
	Arguments: []config.Option{
		{Key: "strict", Default: "true", Text: "false: nodes of no group are open to queues that name no group"},
		{Key: "enablePreferredOrder", Default: "false", Text: "true: of the preferred groups those named first are better"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
