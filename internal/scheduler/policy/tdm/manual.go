package tdm

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Lends nodes (label `volcano.sh/revocable-zone`) to pods that may be taken off them, at the hours of their zone.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: no node is refused"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: lent nodes get no points"},
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs that may not be preempted do not go first"},
		{Key: "enableJobStarving", Default: "true", Text: "off: it does not say for whom others are evicted"},
		{Key: "enablePreemptable", Default: "true", Text: "off: gangs that may not be preempted take nothing from pods that may"},
		{Key: "enabledVictim", Default: "true", Text: "off: when a zone closes, action shuffle takes nobody off its nodes"},
		{Key: "enableJobPipelined", Default: "true", Text: "a gang is never placed with less than its minimum", Idle: true},
	},
	Arguments: []config.Option{
		{Key: "tdm.revocable-zone.<name>", Default: "", Text: "the hours of a zone, such as `22:00-06:00`"},
		{Key: "tdm.time-zone", Default: "that of the machine", Text: "the time zone of the hours"},
		{Key: "tdm.evict.period", Default: "1m", Text: "how often action shuffle empties nodes of closed zones"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
