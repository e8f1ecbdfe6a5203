package numaaware

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the settings.
var manual = config.Manual{
	Text: "Finds CPUs of one NUMA node, or few, for pods of QoS Guaranteed, by the nodes' Numatopology and `volcano.sh/numa-topology-policy`.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: it does nothing"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: nodes that need fewer NUMA nodes get no points"},
	},
	Arguments: []config.Option{
		{Key: "weight", Default: "1", Text: "weight of those points"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
