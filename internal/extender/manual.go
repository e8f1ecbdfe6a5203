package extender

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual describes the settings of the policy.
var manual = config.Manual{
	Text: "Asks an HTTP server of the cluster's owner. A verb that is not given is not asked.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: predicateVerb is not asked"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: prioritizeVerb is not"},
		{Key: "enablePreemptable", Default: "true", Text: "off: preemptableVerb is not"},
		{Key: "enableReclaimable", Default: "true", Text: "off: reclaimableVerb is not"},
		{Key: "enabledOverused", Default: "true", Text: "off: queueOverusedVerb is not"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: jobEnqueueableVerb and jobEnqueuedVerb are not"},
		{Key: "enableJobReady", Default: "true", Text: "off: jobReadyVerb is not"},
	},
	Arguments: []config.Option{
		{Key: "extender.urlPrefix", Default: "", Text: "where it is: http://… or https://…"},
		{Key: "extender.httpTimeout", Default: "1s", Text: "how long an answer may take"},
		{Key: "extender.ignorable", Default: "false", Text: "true: a server that fails agrees"},
		{Key: "extender.managedResources", Default: "", Text: "names of resources; pods that ask for none of them are not sent"},
		{Key: "extender.onSessionOpenVerb", Default: "", Text: "told of the cluster when a cycle begins"},
		{Key: "extender.onSessionCloseVerb", Default: "", Text: "told when it ends"},
		{Key: "extender.predicateVerb", Default: "", Text: "may a pod run on a node?"},
		{Key: "extender.prioritizeVerb", Default: "", Text: "which nodes are better?"},
		{Key: "extender.preemptableVerb", Default: "", Text: "whom of these may a gang evict in its queue?"},
		{Key: "extender.reclaimableVerb", Default: "", Text: "and in other queues?"},
		{Key: "extender.queueOverusedVerb", Default: "", Text: "has a queue enough?"},
		{Key: "extender.jobEnqueueableVerb", Default: "", Text: "may a gang be let in?"},
		{Key: "extender.jobEnqueuedVerb", Default: "", Text: "told of one that was"},
		{Key: "extender.jobReadyVerb", Default: "", Text: "may a gang that fits start?"},
		{Key: "extender.allocateFuncVerb", Default: "", Text: "told of a pod that gets a node"},
		{Key: "extender.deallocateFuncVerb", Default: "", Text: "told of one that loses it"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
