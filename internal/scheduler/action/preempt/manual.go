package preempt

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Evicts pods of the same queue to make room for a gang. Policies (priority, drf, tdm) decide which gangs may lose pods. It evicts as few as possible, and none unless the gang then starts.",
	Arguments: []config.Option{
		{Key: "predicateErrorCacheEnable", Default: "true", Text: "pods that schedule alike are always evaluated once", Idle: true},
		{Key: "enableTopologyAwarePreemption", Default: "false", Text: "affinity and spread are always evaluated without the victims", Idle: true},
		{Key: "topologyAwarePreemptWorkerNum", Default: "16", Text: "eviction decisions are computed on a single core", Idle: true},
		{Key: "minCandidateNodesPercentage", Default: "10", Text: "every node is evaluated", Idle: true},
		{Key: "minCandidateNodesAbsolute", Default: "1", Text: "every node is evaluated", Idle: true},
		{Key: "maxCandidateNodesAbsolute", Default: "100", Text: "every node is evaluated", Idle: true},
	},
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
