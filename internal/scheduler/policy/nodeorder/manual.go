package nodeorder

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Weighs kube-scheduler's scores. A weight of 0 turns one off.",
	Switches: []config.Option{
		{Key: "enableNodeOrder", Default: "true", Text: "off: it gives no points"},
	},
	Arguments: []config.Option{
		{Key: "leastrequested.weight", Default: "1", Text: "nodes of which less is asked for"},
		{Key: "mostrequested.weight", Default: "0", Text: "nodes of which more is asked for"},
		{Key: "balancedresource.weight", Default: "1", Text: "nodes whose cpu, memory and GPUs are used evenly"},
		{Key: "nodeaffinity.weight", Default: "2", Text: "preferred node affinity"},
		{Key: "podaffinity.weight", Default: "2", Text: "preferred pod affinity"},
		{Key: "tainttoleration.weight", Default: "3", Text: "nodes with few taints that only prefer others"},
		{Key: "imagelocality.weight", Default: "1", Text: "nodes that have the images"},
		{Key: "podtopologyspread.weight", Default: "2", Text: "spread constraints that may be missed"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
