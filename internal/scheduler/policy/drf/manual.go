package drf

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Gives equal dominant shares to gangs and, with enableHierarchy, to groups of queues. A dominant share is the largest fraction of any cluster resource that a gang uses.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs are not ordered by share"},
		{Key: "enablePreemptable", Default: "true", Text: "off: gangs with a smaller share do not preempt gangs with a larger share in their queue"},
		{Key: "enableHierarchy", Default: "false", Text: "on: queues form the hierarchy defined by `volcano.sh/hierarchy` and its weights"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: the hierarchy does not order queues"},
		{Key: "enableReclaimable", Default: "true", Text: "off: queues do not reclaim resources based on the hierarchy"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
