package pdb

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Respects PodDisruptionBudgets during evictions.",
	Switches: []config.Option{
		{Key: "enablePreemptable", Default: "true", Text: "off: ignores budgets during preemption within a queue"},
		{Key: "enableReclaimable", Default: "true", Text: "off: ignores budgets when other queues reclaim resources"},
		{Key: "enabledVictim", Default: "true", Text: "off: ignores budgets when action shuffle evicts pods"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
