package proportion

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Divides the cluster's resources among the queues that have gangs, by weight and within guarantee and capability. " +
		"A node counts if its taints and cordon permit at least one pod of a queue; resources that are used by pods outside of queues do not count.",
	Switches: []config.Option{
		{Key: "enableQueueOrder", Default: "true", Text: "off: queues are not ordered by priority and share"},
		{Key: "enabledOverused", Default: "true", Text: "off: a queue that uses its whole share is not skipped"},
		{Key: "enabledAllocatable", Default: "true", Text: "off: shares do not limit placement"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: capabilities do not limit admission"},
		{Key: "enablePreemptive", Default: "true", Text: "off: a queue can reclaim more than its share"},
		{Key: "enableReclaimable", Default: "true", Text: "off: no resources are reclaimed from queues"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
