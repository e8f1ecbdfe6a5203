package priority

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Gangs with a higher priority go first, and can preempt gangs with a lower priority in their queue.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs are not ordered by priority"},
		{Key: "enableTaskOrder", Default: "true", Text: "off: the pods of a gang are not ordered by priority"},
		{Key: "enabledSubJobOrder", Default: "true", Text: "off: sub-groups are not ordered by priority"},
		{Key: "enablePreemptable", Default: "true", Text: "off: gangs with a higher priority do not evict other gangs"},
		{Key: "enableJobStarving", Default: "true", Text: "off: pods above a gang's minimum do not cause evictions"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
