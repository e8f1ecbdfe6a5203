package accountlimits

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Enforces the limits of accounts, of their users and of QOS on running jobs (`maxRunningJobs`, `maxResources`), and the budgets of accounts (`budget`). This policy is always active, even if the configuration does not list it.",
	Switches: []config.Option{
		{Key: "enableJobEnqueued", Default: "true", Text: "off: accounts and QOS have no limits on running jobs, and accounts no budgets"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
