package gang

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Places gangs as a whole: a PodGroup gets its minimum (also per task and sub-group) or nothing.",
	Switches: []config.Option{
		{Key: "enableJobReady", Default: "true", Text: "off: minimums do not count; pods are placed one by one"},
		{Key: "enableJobOrder", Default: "true", Text: "off: gangs that lost pods of their minimum do not go first"},
		{Key: "enabledSubJobReady", Default: "true", Text: "off: the pods of a sub-group need not start together"},
		{Key: "enabledSubJobOrder", Default: "true", Text: "off: sub-groups that lost pods do not go first"},
		{Key: "enableJobStarving", Default: "true", Text: "off: a gang below its minimum does not cause evictions if another policy (priority, tdm) decides about evictions; otherwise it does"},
		{Key: "enablePreemptable", Default: "false", Text: "explicitly true: within a queue, gangs lose only pods beyond their minimum; otherwise whole gangs can be evicted"},
		{Key: "enableReclaimable", Default: "false", Text: "explicitly true: between queues, gangs lose only pods beyond their minimum"},
	},
	Arguments: []config.Option{
		{Key: "gang.keep-lost-room", Default: "30s", Text: "time for which the resources of lost pods are held for replacement pods of a running gang, up to 1h; 0s disables this"},
		{Key: "gang.bind-window", Default: "30s", Text: "time after the last bind for which an incomplete gang keeps its nodes if a bind was rejected and the remaining pods do not fit; then its pods are evicted; up to 1h; 0s means no limit"},
		{Key: "gang.release-broken", Default: "", Text: "time after which one of several gangs that lost pods and block each other is evicted; empty: never; requires action shuffle"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
