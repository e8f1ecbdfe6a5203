package gang

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Places gangs whole: a PodGroup gets its minimum, per task and sub-group too, or nothing.",
	Switches: []config.Option{
		{Key: "enableJobReady", Default: "true", Text: "off: minimums do not count, pods are placed one by one"},
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs that lost some of their minimum do not go first"},
		{Key: "enabledSubJobReady", Default: "true", Text: "off: sub-groups do not start whole"},
		{Key: "enabledSubJobOrder", Default: "true", Text: "off: sub-groups that lost pods do not go first"},
		{Key: "enableJobStarving", Default: "true", Text: "off: being below its minimum is no ground for others to be evicted for a gang, where another policy (priority, tdm) has a say in that; where none has, it is the ground"},
		{Key: "enablePreemptable", Default: "false", Text: "explicitly true: inside a queue gangs lose only what they have beyond their minimum; else whole gangs may go"},
		{Key: "enableReclaimable", Default: "false", Text: "the same between queues"},
	},
	Arguments: []config.Option{
		{Key: "gang.keep-lost-room", Default: "30s", Text: "how long a running gang that loses pods keeps their room, up to 1h; 0s: not at all"},
		{Key: "gang.bind-window", Default: "30s", Text: "how long after its last binding a gang that never was whole, as one of its bindings was refused, may hold nodes while there is no room for the rest; then it gives them back. Up to 1h; 0s: for ever"},
		{Key: "gang.release-broken", Default: "", Text: "after how long one of several gangs that lost pods and wait for each other's nodes gives back what it has; none: never. With action shuffle"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
