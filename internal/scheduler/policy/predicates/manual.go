package predicates

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Switches Kubernetes' own placing rules on. What a pod asks for must always be there.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: none of the rules counts"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: nodes get no points for volumes and devices"},
	},
	Arguments: []config.Option{
		{Key: "predicate.NodeAffinityEnable", Default: "true", Text: "node selectors and required node affinity"},
		{Key: "predicate.TaintTolerationEnable", Default: "true", Text: "taints"},
		{Key: "predicate.NodePortsEnable", Default: "true", Text: "host ports"},
		{Key: "predicate.PodAffinityEnable", Default: "true", Text: "required pod affinity and anti-affinity"},
		{Key: "predicate.PodTopologySpreadEnable", Default: "true", Text: "topology spread"},
		{Key: "predicate.CacheEnable", Default: "false", Text: "what it switches on is always on: equal pods are judged once", Idle: true},
		{Key: "predicate.NodeVolumeLimitsEnable", Default: "true", Text: "how many volumes a node can attach"},
		{Key: "predicate.VolumeZoneEnable", Default: "true", Text: "zones of volumes"},
		{Key: "predicate.VolumeBindingEnable", Default: "true", Text: "volumes of claims: which node they can be used on, or made for"},
		{Key: "predicate.DynamicResourceAllocationEnable", Default: "true", Text: "devices by ResourceClaim"},
		{Key: "volumebinding.weight", Default: "1", Text: "weight of the points that nodes get for how well volumes fit"},
		{Key: "volumebinding.shape", Default: "", Text: "how many points: a list of `{utilization: 0…100, score: 0…10}`; none: no points"},
		{Key: "volumebinding.bindTimeoutSeconds", Default: "600", Text: "how long a bind waits for its volumes"},
		{Key: "dynamicresources.filterTimeoutSeconds", Default: "10", Text: "how long devices are looked for on one node"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
