package resourcequota

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Admits gangs only if their namespace's ResourceQuotas have enough free for their minimum. It runs even if the configuration does not list it, with or without action enqueue.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: admits gangs whose pods the API server rejects"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
