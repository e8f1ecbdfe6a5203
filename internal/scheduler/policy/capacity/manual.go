package capacity

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Gives every queue amounts of its own: what it deserves, what is guaranteed to it, what it can ever hold; flat, or in a tree whose every level counts. " +
		"Guarantees are kept in what queues can use of the cluster: a node counts if a pod of any queue may run there as far as taints and cordons go, " +
		"without what pods outside of queues hold.",
	Switches: []config.Option{
		{Key: "enableHierarchy", Default: "false", Text: "on: the limits and the use of ancestors count, too"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: queues are not ordered by priority and by what they hold of what they deserve"},
		{Key: "enabledAllocatable", Default: "true", Text: "off: capabilities do not limit what is placed"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: they do not limit what is let in"},
		{Key: "enablePreemptive", Default: "true", Text: "off: a queue may take back beyond what it deserves"},
		{Key: "enableReclaimable", Default: "true", Text: "off: queues lose nothing to others"},
	},
	Arguments: []config.Option{
		{Key: "ancestorReclaimLevel", Default: "0", Text: "how many ancestors of a queue have a say in what it may take and lose"},
		{Key: "capacity.DynamicResourceAllocationEnable", Default: "", Text: "quotas of device classes are not counted, whatever it says", Idle: true},
		{Key: "capacity.DRAConsumableCapacityEnable", Default: "", Text: "the same", Idle: true},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
