package nodegroup

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Binds queues to groups of nodes (label `volcano.sh/nodegroup-name`), by the affinity in the queue's spec and by limits for each group.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: rejects no node"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score preferred groups"},
		{Key: "enableHierarchy", Default: "false", Text: "on: a queue without affinity inherits it from its nearest ancestor"},
	},
	Arguments: []config.Option{
		{Key: "strict", Default: "true", Text: "false: nodes without a group accept queues without a group"},
		{Key: "enablePreferredOrder", Default: "false", Text: "true: preferred groups that are listed first score higher"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
