package priority

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Higher priorities go first, and inside a queue take the room of lower ones.",
	Switches: []config.Option{
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs are not ordered by priority"},
		{Key: "enableTaskOrder", Default: "true", Text: "off: the pods of a gang are not"},
		{Key: "enabledSubJobOrder", Default: "true", Text: "off: its sub-groups are not"},
		{Key: "enablePreemptable", Default: "true", Text: "off: a higher priority entitles nobody to evict"},
		{Key: "enableJobStarving", Default: "true", Text: "off: nobody is evicted for pods beyond a gang's minimum"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
