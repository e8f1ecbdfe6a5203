package drf

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Gives gangs, and with enableHierarchy groups of queues, equal dominant shares: the greatest part of any resource of the cluster that they hold.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs are not ordered by share"},
		{Key: "enablePreemptable", Default: "true", Text: "off: gangs of smaller share take nothing from those of greater share in their queue"},
		{Key: "enableHierarchy", Default: "false", Text: "on: queues are a tree by `volcano.sh/hierarchy` and its weights"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: the tree does not order queues"},
		{Key: "enableReclaimable", Default: "true", Text: "off: queues take nothing from each other by the tree"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
