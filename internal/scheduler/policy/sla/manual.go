package sla

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Gangs that waited too long go first, are let in whatever the gates say, and keep the room that becomes free.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: they do not go first"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: gates hold them back"},
		{Key: "enableJobPipelined", Default: "true", Text: "off: they keep no room"},
	},
	Arguments: []config.Option{
		{Key: "sla-waiting-time", Default: "", Text: "how long is too long; none: as the PodGroup's annotation `volcano.sh/sla-waiting-time` says, or never"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
