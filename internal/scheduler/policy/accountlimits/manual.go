package accountlimits

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Enforces the limits of accounts and of their users on running jobs (`maxRunningJobs`, `maxResources`), and the budgets of accounts (`budget`). This policy is always active, even if the configuration does not list it.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: accounts have no limits on running jobs and no budgets"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
