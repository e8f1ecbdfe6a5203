package rescheduling

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Evens out the nodes' real load: pods leave nodes that are used too much while others are hardly used. With action shuffle and a source of load (`metrics`).",
	Switches: []config.Option{
		{Key: "enabledVictim", Default: "true", Text: "off: it does nothing"},
	},
	Arguments: []config.Option{
		{Key: "interval", Default: "5m", Text: "how often it looks"},
		{Key: "metricsPeriod", Default: "", Text: "loads are averages of 10m, whatever their source", Idle: true},
		{Key: "strategies", Default: "", Text: "a list of `{name: lowNodeUtilization, params: {…}}`; none: it does nothing"},
		{Key: "cpu", Default: "100", Text: "below how many percent of cpu, and", In: "strategies[].params.thresholds"},
		{Key: "memory", Default: "100", Text: "of memory, a node is hardly used", In: "strategies[].params.thresholds"},
		{Key: "cpu", Default: "100", Text: "over how many percent of cpu, or", In: "strategies[].params.targetThresholds"},
		{Key: "memory", Default: "100", Text: "of memory, a node is used too much", In: "strategies[].params.targetThresholds"},
		{Key: "thresholdPriorityClassName", Default: "", Text: "pods of the system never leave", In: "strategies[].params", Idle: true},
		{Key: "nodeFit", Default: "", Text: "the idle nodes' room is counted together", In: "strategies[].params", Idle: true},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
