package rescheduling

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Balances the actual load of nodes: evicts pods from overloaded nodes while other nodes are nearly idle. Requires action shuffle and a source of load metrics (`metrics`).",
	Switches: []config.Option{
		{Key: "enabledVictim", Default: "true", Text: "off: disables the policy"},
	},
	Arguments: []config.Option{
		{Key: "interval", Default: "5m", Text: "time between two checks"},
		{Key: "metricsPeriod", Default: "", Text: "loads are always 10-minute averages", Idle: true},
		{Key: "strategies", Default: "", Text: "a list of `{name: lowNodeUtilization, params: {…}}`; empty: disables the policy"},
		{Key: "cpu", Default: "100", Text: "a node is underutilized only if its cpu load is below this percentage", In: "strategies[].params.thresholds"},
		{Key: "memory", Default: "100", Text: "a node is underutilized only if its memory load is below this percentage", In: "strategies[].params.thresholds"},
		{Key: "cpu", Default: "100", Text: "a node is overutilized if its cpu load is above this percentage", In: "strategies[].params.targetThresholds"},
		{Key: "memory", Default: "100", Text: "a node is overutilized if its memory load is above this percentage", In: "strategies[].params.targetThresholds"},
		{Key: "thresholdPriorityClassName", Default: "", Text: "system pods are never evicted", In: "strategies[].params", Idle: true},
		{Key: "nodeFit", Default: "", Text: "pods are checked against the total spare capacity of all underutilized nodes", In: "strategies[].params", Idle: true},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
