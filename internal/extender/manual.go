package extender

import "github.com/vc-batch/vc/internal/scheduler/config"

// manual describes the settings of the policy.
var manual = config.Manual{
	Text: "Sends HTTP requests to a scheduler extender. Verbs without a path are not called.",
	Switches: []config.Option{
		{Key: "enablePredicate", Default: "true", Text: "off: predicate requests are not sent to the extender"},
		{Key: "enableNodeOrder", Default: "true", Text: "off: prioritize requests are not sent to the extender"},
		{Key: "enablePreemptable", Default: "true", Text: "off: preemptable requests are not sent to the extender"},
		{Key: "enableReclaimable", Default: "true", Text: "off: reclaimable requests are not sent to the extender"},
		{Key: "enabledOverused", Default: "true", Text: "off: queueOverused requests are not sent to the extender"},
		{Key: "enableJobEnqueued", Default: "true", Text: "off: jobEnqueueable and jobEnqueued requests are not sent to the extender"},
		{Key: "enableJobReady", Default: "true", Text: "off: jobReady requests are not sent to the extender"},
	},
	Arguments: []config.Option{
		{Key: "extender.urlPrefix", Default: "", Text: "URL of the server: http://… or https://…"},
		{Key: "extender.httpTimeout", Default: "1s", Text: "maximum time for a response"},
		{Key: "extender.ignorable", Default: "false", Text: "true: if the server fails, the scheduler continues without it"},
		{Key: "extender.managedResources", Default: "", Text: "resource names; pods that request none of these resources are not sent"},
		{Key: "extender.onSessionOpenVerb", Default: "", Text: "path called with the cluster state at the start of a cycle"},
		{Key: "extender.onSessionCloseVerb", Default: "", Text: "path called at the end of a cycle"},
		{Key: "extender.predicateVerb", Default: "", Text: "path called to check whether a pod may run on a node"},
		{Key: "extender.prioritizeVerb", Default: "", Text: "scores of nodes"},
		{Key: "extender.preemptableVerb", Default: "", Text: "path called to select the pods that a gang may evict in its queue"},
		{Key: "extender.reclaimableVerb", Default: "", Text: "path called to select the pods that a gang may evict in other queues"},
		{Key: "extender.queueOverusedVerb", Default: "", Text: "path called to check whether a queue uses more than its share"},
		{Key: "extender.jobEnqueueableVerb", Default: "", Text: "path called to check whether a gang may be admitted to its queue"},
		{Key: "extender.jobEnqueuedVerb", Default: "", Text: "path called when a gang has been admitted"},
		{Key: "extender.jobReadyVerb", Default: "", Text: "path called to check whether a gang that fits may start"},
		{Key: "extender.allocateFuncVerb", Default: "", Text: "path called when a pod is allocated to a node"},
		{Key: "extender.deallocateFuncVerb", Default: "", Text: "path called when a pod is deallocated from its node"},
	},
}

// Manual returns the policy's part of the reference.
func (*Policy) Manual() config.Manual { return manual }
