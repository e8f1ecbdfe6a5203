package gang

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Places gangs as a whole: a PodGroup gets its minimum (also per task and sub-group) or nothing.",
	Switches: []config.Option{
		{Key: "enableJobReady", Default: "true", Text: "off: minimums are ignored, and pods are placed one by one"},
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs that fell below their minimum do not go first"},
		{Key: "enabledSubJobReady", Default: "true", Text: "off: the pods of a sub-group do not have to start together"},
		{Key: "enabledSubJobOrder", Default: "true", Text: "off: sub-groups that lost pods do not go first"},
		{Key: "enableJobStarving", Default: "true", Text: "off: if another policy (priority, tdm) decides about evictions, gangs below their minimum do not cause evictions"},
		{Key: "enablePreemptable", Default: "false", Text: "explicitly true: evictions within a queue never reduce a gang below its minimum; otherwise, whole gangs can be evicted"},
		{Key: "enableReclaimable", Default: "false", Text: "explicitly true: evictions between queues never reduce a gang below its minimum"},
	},
	Arguments: []config.Option{
		{Key: "gang.keep-lost-room", Default: "30s", Text: "time for which a running gang holds the resources of its lost pods for their replacements; at most 1h; 0s: resources are not held"},
		{Key: "gang.bind-window", Default: "30s", Text: "time after the last bind until the pods of an incomplete gang are evicted if a bind was rejected and the remaining pods do not fit; at most 1h; 0s: no limit"},
		{Key: "gang.release-broken", Default: "", Text: "if several gangs lost pods and block each other: time after which one of the gangs is evicted; empty: never; requires action shuffle"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
