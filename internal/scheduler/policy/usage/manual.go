package usage

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Judges nodes by their real load, with a source of it (`metrics`): those over a threshold take nobody, of the others the least loaded are best.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: thresholds do not count"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: it gives no points"},
	},
	Arguments: []config.Option{
		{Key: "usage.weight", Default: "5", Text: "weight of the whole; 0: no points"},
		{Key: "cpu.weight", Default: "1", Text: "weight of cpu"},
		{Key: "memory.weight", Default: "1", Text: "weight of memory"},
		{Key: "thresholds", Default: "", Text: "over how many percent of load a node takes nobody"},
		{Key: "cpu", Default: "80", Text: "of cpu", In: "thresholds"},
		{Key: "mem", Default: "80", Text: "of memory", In: "thresholds"},
		{Key: "estimator", Default: "", Text: "what pods will use that no measurement shows yet"},
		{Key: "request_ratio", Default: "0.7", Text: "part of what they request", In: "estimator"},
		{Key: "burst_ratio", Default: "0", Text: "and of what their limits are beyond that", In: "estimator"},
		{Key: "risk_threshold", Default: "0.6", Text: "from which load of the node on", In: "estimator"},
		{Key: "risk_factor", Default: "1.2", Text: "the estimate is so many times greater", In: "estimator"},
		{Key: "be_cpu", Default: "250m", Text: "what pods without requests and limits use of cpu", In: "estimator"},
		{Key: "be_mem", Default: "200Mi", Text: "and of memory", In: "estimator"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
