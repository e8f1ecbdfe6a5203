package conformance

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual documents the policy's settings.
var manual = config.Manual{
	Text: "Protects system pods from eviction: pods of the classes system-cluster-critical and system-node-critical, and of namespace kube-system.",
	Switches: []config.Option{
		{Key: "enablePreemptable", Default: "true", Text: "off: does not protect pods from preemption within a queue"},
		{Key: "enableReclaimable", Default: "true", Text: "off: does not protect pods from reclaim by other queues"},
	},
}

// Manual returns the reference documentation of the policy.
func (*Policy) Manual() config.Manual { return manual }
