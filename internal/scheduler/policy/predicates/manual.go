package predicates

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Enables Kubernetes' own placement rules. Resource requests are always checked.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: disables all rules"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes by volumes and devices"},
	},
	Arguments: []config.Option{
		{Key: "predicate.NodeAffinityEnable", Default: "true", Text: "node selectors and required node affinity"},
		{Key: "predicate.TaintTolerationEnable", Default: "true", Text: "taints"},
		{Key: "predicate.NodePortsEnable", Default: "true", Text: "host ports"},
		{Key: "predicate.PodAffinityEnable", Default: "true", Text: "required pod affinity and anti-affinity"},
		{Key: "predicate.PodTopologySpreadEnable", Default: "true", Text: "topology spread"},
		{Key: "predicate.CacheEnable", Default: "false", Text: "always on: pods with the same requirements are evaluated only once", Idle: true},
		{Key: "predicate.NodeVolumeLimitsEnable", Default: "true", Text: "limits on the number of volumes attached to a node"},
		{Key: "predicate.VolumeZoneEnable", Default: "true", Text: "zones of volumes"},
		{Key: "predicate.VolumeBindingEnable", Default: "true", Text: "volume claims: only nodes on which the volumes can be used or provisioned"},
		{Key: "predicate.DynamicResourceAllocationEnable", Default: "true", Text: "devices of ResourceClaims"},
		{Key: "volumebinding.weight", Default: "1", Text: "weight of the scores for matching volumes"},
		{Key: "volumebinding.shape", Default: "", Text: "scores by utilization, as a list of `{utilization: 0…100, score: 0…10}`; empty: no scores"},
		{Key: "volumebinding.bindTimeoutSeconds", Default: "600", Text: "maximum time that a bind waits for its volumes"},
		{Key: "dynamicresources.filterTimeoutSeconds", Default: "10", Text: "maximum time to select devices on one node"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
