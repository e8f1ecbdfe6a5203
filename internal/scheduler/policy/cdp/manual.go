package cdp

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Protects pods from eviction for the time after their start that their label or annotation `volcano.sh/cooldown-time` names.",
	Switches: []config.Option{
		{Key: "enablePreemptable", Default: "true", Text: "off: not inside a queue"},
		{Key: "enableReclaimable", Default: "true", Text: "off: not between queues"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
