package gangreclaim

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the action's settings.
var manual = config.Manual{
	Text: "Evicts pods of queues that use more than their deserved share to make room for a gang, one gang at a time, and within one HyperNode if the gang has a network topology.",
	Arguments: []config.Option{
		{Key: "maxDomains", Default: "8", Text: "maximum number of HyperNodes in which evictions are tried"},
		{Key: "allowWholeBundle", Default: "true", Text: "false: gangs lose only pods beyond their minimum"},
	},
}

// Manual returns the reference documentation of the action.
func (Action) Manual() config.Manual { return manual }
