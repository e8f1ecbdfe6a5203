package resourcequota

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Admits gangs only if the free part of their namespace's ResourceQuotas is large enough for their minimum. The policy is always active, even if the configuration does not list it.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: admits gangs even if the API server would reject their pods"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
