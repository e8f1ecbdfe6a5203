package fairshare

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Considers past usage: users who recently used less go first, and users who have waited for a long time eventually go first as well. List this policy before drf.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: does not order gangs"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: does not order queues, regardless of fairshare.queues"},
	},
	Arguments: []config.Option{
		{Key: "fairshare.targetQueues", Default: "", Text: "queues in which the policy orders gangs, comma-separated or as a list; empty: all queues"},
		{Key: "fairshare.halfLife", Default: "4h", Text: "half-life of past usage"},
		{Key: "fairshare.usageWeight", Default: "1", Text: "weight of past usage"},
		{Key: "fairshare.ageWeight", Default: "0.1", Text: "weight of the waiting time"},
		{Key: "fairshare.maxAge", Default: "168h", Text: "waiting time after which the score no longer grows"},
		{Key: "fairshare.queues", Default: "false", Text: "true: orders queues as well"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
