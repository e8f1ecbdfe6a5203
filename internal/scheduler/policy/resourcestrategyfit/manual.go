package resourcestrategyfit

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Scores each resource of a node by a strategy of its own, and keeps scarce ones free for who asks for them.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: it gives no points"},
		{Key: "enablePredicate", Default: "true", Text: "off: `proportional` keeps nothing free"},
	},
	Arguments: []config.Option{
		{Key: "resourceStrategyFitWeight", Default: "10", Text: "weight of the whole"},
		{Key: "resources", Default: "cpu and memory, LeastAllocated", Text: "how each resource is scored, by name or by the beginning of names with `*`"},
		{Key: "type", Default: "", Text: "`LeastAllocated` or `MostAllocated`", In: "resources.<name>"},
		{Key: "weight", Default: "1", Text: "weight of the resource", In: "resources.<name>"},
		{Key: "sra", Default: "", Text: "scarce resources: who asks for none of them is kept away from nodes that have some"},
		{Key: "enable", Default: "false", Text: "true: it counts", In: "sra"},
		{Key: "resources", Default: "", Text: "their names, with commas between them", In: "sra"},
		{Key: "weight", Default: "10", Text: "weight of the whole", In: "sra"},
		{Key: "<name>", Default: "1", Text: "weight of one of them", In: "sra.resourceWeight"},
		{Key: "proportional", Default: "", Text: "cpu and memory that stay free for idle pieces of a resource"},
		{Key: "enable", Default: "false", Text: "true: it counts", In: "proportional"},
		{Key: "resources", Default: "", Text: "names of the resources, with commas between them", In: "proportional"},
		{Key: "<name>.cpu", Default: "0", Text: "cores kept for each idle piece", In: "proportional.resourceProportion"},
		{Key: "<name>.memory", Default: "0", Text: "GB kept for each idle piece", In: "proportional.resourceProportion"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
