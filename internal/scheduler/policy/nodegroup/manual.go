package nodegroup

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Binds queues to node groups (label `volcano.sh/nodegroup-name`), based on the affinity in the queue's spec and on the limits for each group.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: does not reject nodes"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score preferred groups"},
		{Key: "enableHierarchy", Default: "false", Text: "on: a queue without affinity inherits the affinity of its nearest ancestor"},
	},
	Arguments: []config.Option{
		{Key: "strict", Default: "true", Text: "false: queues without a group can use nodes without a group"},
		{Key: "enablePreferredOrder", Default: "false", Text: "true: preferred groups that are listed first score higher"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
