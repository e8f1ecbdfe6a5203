package usage

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Evaluates nodes by their actual load, which is read from a source of load metrics (`metrics`). Nodes above a threshold accept no pods. Among the other nodes, the least loaded nodes score highest.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: ignores thresholds"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes"},
	},
	Arguments: []config.Option{
		{Key: "usage.weight", Default: "5", Text: "weight of this policy; 0: does not score nodes"},
		{Key: "cpu.weight", Default: "1", Text: "weight of cpu"},
		{Key: "memory.weight", Default: "1", Text: "weight of memory"},
		{Key: "thresholds", Default: "", Text: "load in percent above which a node accepts no pods"},
		{Key: "cpu", Default: "80", Text: "of cpu", In: "thresholds"},
		{Key: "mem", Default: "80", Text: "of memory", In: "thresholds"},
		{Key: "estimator", Default: "", Text: "estimates the load of pods that the measurements do not include yet"},
		{Key: "request_ratio", Default: "0.7", Text: "estimated usage as a fraction of the requests", In: "estimator"},
		{Key: "burst_ratio", Default: "0", Text: "additional usage as a fraction of the difference between limits and requests", In: "estimator"},
		{Key: "risk_threshold", Default: "0.6", Text: "node load above which the estimate is raised", In: "estimator"},
		{Key: "risk_factor", Default: "1.2", Text: "factor by which the estimate is multiplied above `risk_threshold`", In: "estimator"},
		{Key: "be_cpu", Default: "250m", Text: "estimated CPU usage of a pod without requests and limits", In: "estimator"},
		{Key: "be_mem", Default: "200Mi", Text: "estimated memory usage of a pod without requests and limits", In: "estimator"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
