package pdb

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Keeps the PodDisruptionBudgets when it comes to evictions.",
	Switches: []config.Option{
		{Key: "enablePreemptable", Default: "true", Text: "off: not inside a queue"},
		{Key: "enableReclaimable", Default: "true", Text: "off: not between queues"},
		{Key: "enabledVictim", Default: "true", Text: "off: not for action shuffle"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
