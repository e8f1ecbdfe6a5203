package proportion

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Shares what queues can use of the cluster among the queues that have gangs, by weight, within guarantee and capability. " +
		"A node counts if a pod of any queue may run there as far as taints and cordons go, without what pods outside of queues hold.",
	Switches: []config.Option{
		{Key: "enableQueueOrder", Default: "true", Text: "off: queues are not ordered by priority and share"},
		{Key: "enabledOverused", Default: "true", Text: "off: a queue that holds its share of everything is not passed over"},
		{Key: "enabledAllocatable", Default: "true", Text: "off: nothing of a share limits what is placed"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: capabilities do not limit what is let in"},
		{Key: "enablePreemptive", Default: "true", Text: "off: a queue may take back beyond its share"},
		{Key: "enableReclaimable", Default: "true", Text: "off: queues lose nothing to others"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
