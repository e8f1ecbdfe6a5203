package numaaware

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Selects CPUs on one NUMA node, or on as few NUMA nodes as possible, for pods with QoS class Guaranteed, based on the nodes' Numatopology and `volcano.sh/numa-topology-policy`.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: disables the policy"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: does not score nodes by the number of NUMA nodes used"},
	},
	Arguments: []config.Option{
		{Key: "weight", Default: "1", Text: "weight of this policy"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
