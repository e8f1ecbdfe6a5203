package evictions

import "github.com/vc-batch/vc/internal/scheduler/config"

// The documentation of the actions' settings.
var (
	preemptManual = config.Manual{
		Text: "Evicts pods of the same queue so that a gang can start. Policies (priority, drf, tdm) decide which gangs can lose pods. The action evicts as few pods as possible, and only if the gang can then start.",
		Arguments: []config.Option{
			{Key: "predicateErrorCacheEnable", Default: "true", Text: "pods with the same requirements are always evaluated only once", Idle: true},
			{Key: "enableTopologyAwarePreemption", Default: "false", Text: "affinity and spread are always evaluated without the victims", Idle: true},
			{Key: "topologyAwarePreemptWorkerNum", Default: "16", Text: "eviction decisions are computed on a single core", Idle: true},
			{Key: "minCandidateNodesPercentage", Default: "10", Text: "every node is evaluated", Idle: true},
			{Key: "minCandidateNodesAbsolute", Default: "1", Text: "every node is evaluated", Idle: true},
			{Key: "maxCandidateNodesAbsolute", Default: "100", Text: "every node is evaluated", Idle: true},
		},
	}
	reclaimManual = config.Manual{
		Text: "Evicts pods of queues that use more than their deserved share to free resources for a gang of another queue (policies: proportion, capacity, drf with enableHierarchy).",
	}
	gangPreemptManual = config.Manual{
		Text:      "Evicts pods of the same queue to free resources for a gang. Selects victims gang by gang, and within one HyperNode if the gang has a network topology.",
		Arguments: byGangArguments,
	}
	gangReclaimManual = config.Manual{
		Text:      "Evicts pods of queues that use more than their deserved share to free resources for a gang. Selects victims gang by gang, and within one HyperNode if the gang has a network topology.",
		Arguments: byGangArguments,
	}
	shuffleManual = config.Manual{
		Text: "Evicts pods that policies (tdm, rescheduling, gang) select, even if no gang is waiting for their resources.",
	}
	byGangArguments = []config.Option{
		{Key: "maxDomains", Default: "8", Text: "maximum number of HyperNodes in which evictions are tried"},
		{Key: "allowWholeBundle", Default: "true", Text: "false: evictions never reduce a gang below its minimum"},
	}
)
