package resourcequota

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Admits a gang only if the ResourceQuotas of its namespace have enough free resources for the gang's minimum. This policy is always active, even if the configuration does not list it.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: admits gangs even if the API server would reject their pods"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
