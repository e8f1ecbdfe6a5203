package gangpreempt

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Makes room for a gang inside its queue, gang by gang, in one domain of the network where the gang wants that.",
	Arguments: []config.Option{
		{Key: "maxDomains", Default: "8", Text: "in how many domains of the network evictions are tried, at most"},
		{Key: "allowWholeBundle", Default: "true", Text: "false: gangs lose only what they have beyond their minimum"},
	},
}

// Manual returns the action's part of the reference.
func (Action) Manual() config.Manual { return manual }
