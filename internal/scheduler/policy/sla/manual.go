package sla

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Gangs that have waited too long go first, are admitted regardless of other policies, and reserve resources that become free.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: overdue gangs do not go first"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: other policies can delay the admission of overdue gangs"},
		{Key: "enableJobPipelined", Default: "true", Text: "off: no resources are reserved for overdue gangs"},
	},
	Arguments: []config.Option{
		{Key: "sla-waiting-time", Default: "", Text: "maximum waiting time of PodGroups without the annotation `volcano.sh/sla-waiting-time`; empty: unlimited"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
