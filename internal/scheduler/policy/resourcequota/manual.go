package resourcequota

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Admits gangs only where their namespace's ResourceQuotas have room for their minimum. It runs even if the configuration does not name it, with or without action enqueue.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: gangs are admitted whose pods the API server refuses"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
