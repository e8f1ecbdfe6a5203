package fairshare

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Remembers who has used how much: whoever used less lately goes first, and whoever waits long in the end does too. Name it before drf.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs are not ordered by it"},
		{Key: "enableQueueOrder", Default: "true", Text: "off: queues are not, whatever fairshare.queues says"},
	},
	Arguments: []config.Option{
		{Key: "fairshare.targetQueues", Default: "", Text: "queues whose gangs it orders, with commas or as a list; none: all"},
		{Key: "fairshare.halfLife", Default: "4h", Text: "after how long use counts half"},
		{Key: "fairshare.usageWeight", Default: "1", Text: "weight of what was used"},
		{Key: "fairshare.ageWeight", Default: "0.1", Text: "weight of how long a gang waits"},
		{Key: "fairshare.maxAge", Default: "168h", Text: "waiting longer than that makes no more points"},
		{Key: "fairshare.queues", Default: "false", Text: "order queues, too"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
