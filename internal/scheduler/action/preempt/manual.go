package preempt

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Makes room for a gang inside its queue: out of gangs that policies let go for it (priority, drf, tdm), as few as do it, and nobody unless it does.",
	Arguments: []config.Option{
		{Key: "predicateErrorCacheEnable", Default: "true", Text: "every shape is judged once anyway", Idle: true},
		{Key: "enableTopologyAwarePreemption", Default: "false", Text: "what pods say of each other is judged with the victims gone, always", Idle: true},
		{Key: "topologyAwarePreemptWorkerNum", Default: "16", Text: "deciding takes one core", Idle: true},
		{Key: "minCandidateNodesPercentage", Default: "10", Text: "every node is looked at", Idle: true},
		{Key: "minCandidateNodesAbsolute", Default: "1", Text: "every node is looked at", Idle: true},
		{Key: "maxCandidateNodesAbsolute", Default: "100", Text: "every node is looked at", Idle: true},
	},
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
