package capacity

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Gives each queue its own deserved share, guarantee and capability, either flat or in a hierarchy in which every level counts. " +
		"Guarantees are reserved from the resources that queues can use. A node counts if its taints and cordon permit at least one pod of a queue; " +
		"resources that are used by pods outside of queues do not count.",
	Switches: []config.Option{
		{Key: "enableHierarchy", Default: "false", Text: "on: the limits and usage of ancestors count as well"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: queues are not ordered by priority and by usage of their deserved share"},
		{Key: "enabledAllocatable", Default: "true", Text: "off: capabilities do not limit placement"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: capabilities do not limit admission"},
		{Key: "enablePreemptive", Default: "true", Text: "off: a queue can reclaim more than its deserved share"},
		{Key: "enableReclaimable", Default: "true", Text: "off: no resources are reclaimed from queues"},
	},
	Arguments: []config.Option{
		{Key: "ancestorReclaimLevel", Default: "0", Text: "number of ancestor levels that are checked when a queue reclaims or loses resources"},
		{Key: "capacity.DynamicResourceAllocationEnable", Default: "", Text: "quotas of device classes are never counted", Idle: true},
		{Key: "capacity.DRAConsumableCapacityEnable", Default: "", Text: "quotas of device classes are never counted", Idle: true},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
