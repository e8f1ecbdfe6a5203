package networktopologyaware

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Scores HyperNodes: prefers the fullest HyperNode that can hold a gang, and packs pods without a topology onto nearly full HyperNodes. Hard topologies are enforced with or without this policy.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: pods without a topology are not packed onto nearly full HyperNodes"},
		{Key: "enabledHyperNodeOrder", Default: "true", Text: "off: HyperNodes are not ordered by utilization"},
		{Key: "enabledHyperNodeGradient", Default: "true", Text: "off: HyperNodes that are narrower than the gang requires are not tried"},
	},
	Arguments: []config.Option{
		{Key: "weight", Default: "1", Text: "weight of this policy; 0: does not score nodes"},
		{Key: "hypernode.binpack.cpu", Default: "1", Text: "weight of cpu"},
		{Key: "hypernode.binpack.memory", Default: "1", Text: "weight of memory"},
		{Key: "hypernode.binpack.resources", Default: "", Text: "comma-separated names of additional resources"},
		{Key: "hypernode.binpack.resources.<name>", Default: "1", Text: "weight of an additional resource"},
		{Key: "hypernode.binpack.normal-pod.enable", Default: "true", Text: "false: pods without a topology are not packed onto nearly full HyperNodes"},
		{Key: "hypernode.binpack.normal-pod.fading", Default: "0.8", Text: "for pods that do not request a topology: factor (0 to 10) by which the score is multiplied for each higher tier"},
		{Key: "hypernode.gradient.evict.max-hypernodes", Default: "0", Text: "maximum number of HyperNodes in which evictions are tried; 0: the action's maxDomains applies"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
