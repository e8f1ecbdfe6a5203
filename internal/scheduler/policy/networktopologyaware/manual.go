package networktopologyaware

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Says which of several HyperNodes is better: the fullest that holds a gang, and full ones for pods that do not care. A hard topology is kept with and without it.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: pods that do not care are not packed by HyperNode"},
		{Key: "enabledHyperNodeOrder", Default: "true", Text: "off: HyperNodes are not ordered by how full they are"},
		{Key: "enabledHyperNodeGradient", Default: "true", Text: "off: a gang is not kept in narrower HyperNodes than it asks for"},
	},
	Arguments: []config.Option{
		{Key: "weight", Default: "1", Text: "weight of the whole; 0: no points"},
		{Key: "hypernode.binpack.cpu", Default: "1", Text: "weight of cpu"},
		{Key: "hypernode.binpack.memory", Default: "1", Text: "weight of memory"},
		{Key: "hypernode.binpack.resources", Default: "", Text: "names of more resources that count, with commas between them"},
		{Key: "hypernode.binpack.resources.<name>", Default: "1", Text: "weight of such a resource"},
		{Key: "hypernode.binpack.normal-pod.enable", Default: "true", Text: "false: pods without a topology are not packed by HyperNode"},
		{Key: "hypernode.binpack.normal-pod.fading", Default: "0.8", Text: "how much less each higher tier counts for them, 0 to 10"},
		{Key: "hypernode.gradient.evict.max-hypernodes", Default: "0", Text: "in how many HyperNodes evictions are tried, at most; 0: as many as the action says (maxDomains)"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
