package resourcequota

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual is what can be set.
var manual = config.Manual{
	Text: "Lets gangs in only where their namespace's ResourceQuotas have room for their minimum.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: it does nothing"},
	},
}

// Manual is the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
