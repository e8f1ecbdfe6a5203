package nodeorder

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Sets the weights of kube-scheduler's scores. A weight of 0 disables a score.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes"},
	},
	Arguments: []config.Option{
		{Key: "leastrequested.weight", Default: "1", Text: "nodes with fewer requested resources"},
		{Key: "mostrequested.weight", Default: "0", Text: "nodes with more requested resources"},
		{Key: "balancedresource.weight", Default: "1", Text: "nodes with balanced use of cpu, memory and GPUs"},
		{Key: "nodeaffinity.weight", Default: "2", Text: "preferred node affinity"},
		{Key: "podaffinity.weight", Default: "2", Text: "preferred pod affinity"},
		{Key: "tainttoleration.weight", Default: "3", Text: "nodes with few PreferNoSchedule taints"},
		{Key: "imagelocality.weight", Default: "1", Text: "nodes that already have the images"},
		{Key: "podtopologyspread.weight", Default: "2", Text: "spread constraints with ScheduleAnyway"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
