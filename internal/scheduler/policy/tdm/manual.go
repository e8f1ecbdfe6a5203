package tdm

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Time-shared nodes (label `volcano.sh/revocable-zone`) accept pods that can be evicted, but only during the hours of the node's zone.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: does not reject nodes"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score time-shared nodes"},
		{Key: "enableJobOrder", Default: "true", Text: "off: non-preemptable gangs do not go first"},
		{Key: "enableJobStarving", Default: "true", Text: "off: does not decide which gangs can cause evictions"},
		{Key: "enablePreemptable", Default: "true", Text: "off: non-preemptable gangs do not evict preemptable pods"},
		{Key: "enabledVictim", Default: "true", Text: "off: action shuffle does not evict pods when a zone closes"},
		{Key: "enableJobPipelined", Default: "true", Text: "a gang is never placed with fewer pods than its minimum", Idle: true},
	},
	Arguments: []config.Option{
		{Key: "tdm.revocable-zone.<name>", Default: "", Text: "hours during which a zone is open, such as `22:00-06:00`"},
		{Key: "tdm.time-zone", Default: "the machine's time zone", Text: "time zone for the zones' hours"},
		{Key: "tdm.evict.period", Default: "1m", Text: "interval at which action shuffle evicts pods from nodes in closed zones"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
