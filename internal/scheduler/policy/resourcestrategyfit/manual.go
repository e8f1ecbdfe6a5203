package resourcestrategyfit

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Scores each resource of a node with a separate strategy, and reserves scarce resources for pods that request them.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes"},
		{Key: "enablePredicate", Default: "true", Text: "off: `proportional` reserves nothing"},
	},
	Arguments: []config.Option{
		{Key: "resourceStrategyFitWeight", Default: "10", Text: "weight of this policy"},
		{Key: "resources", Default: "cpu and memory, LeastAllocated", Text: "scoring strategy for each resource, by name or by a prefix with `*`"},
		{Key: "type", Default: "", Text: "`LeastAllocated` or `MostAllocated`", In: "resources.<name>"},
		{Key: "weight", Default: "1", Text: "weight of the resource", In: "resources.<name>"},
		{Key: "sra", Default: "", Text: "scarce resources: pods that request none of these resources avoid nodes with them"},
		{Key: "enable", Default: "false", Text: "true: enables it", In: "sra"},
		{Key: "resources", Default: "", Text: "comma-separated resource names", In: "sra"},
		{Key: "weight", Default: "10", Text: "weight of the `sra` scores", In: "sra"},
		{Key: "<name>", Default: "1", Text: "weight of one resource", In: "sra.resourceWeight"},
		{Key: "proportional", Default: "", Text: "cpu and memory reserved for idle units of a resource"},
		{Key: "enable", Default: "false", Text: "true: enables it", In: "proportional"},
		{Key: "resources", Default: "", Text: "comma-separated resource names", In: "proportional"},
		{Key: "<name>.cpu", Default: "0", Text: "CPU cores reserved for each idle unit of the resource, for example each idle GPU", In: "proportional.resourceProportion"},
		{Key: "<name>.memory", Default: "0", Text: "memory in GB reserved for each idle unit of the resource, for example each idle GPU", In: "proportional.resourceProportion"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
