package cdp

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Protects pods from eviction for some time after their start. The label or annotation `volcano.sh/cooldown-time` sets the time.",
	Switches: []config.Option{
		{Key: "enablePreemptable", Default: "true", Text: "off: does not protect pods from preemption within a queue"},
		{Key: "enableReclaimable", Default: "true", Text: "off: does not protect pods from reclaim by other queues"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
