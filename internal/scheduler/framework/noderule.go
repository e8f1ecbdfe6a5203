package framework

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// NodeRule is a policy's rule about single nodes for single tasks, beyond the judge's filters and weights. Tasks
// without such rules take a fast path, so Applies should be narrow. All functions except Applies may be nil. A rule
// is registered in every cycle and may keep state for that cycle.
type NodeRule struct {
	// Name is the name of the policy.
	Name string
	// Applies reports whether the rule applies to a task.
	Applies func(*Job, *model.Task) bool
	// Allows returns why a node cannot take a task; "" if it can. If later is true, resources that are being
	// released count as free.
	Allows func(j *Job, t *model.Task, id model.NodeID, later bool) (code reason.Code, detail string)
	// Particular reports whether the answer depends on the task and not only on its shape. nil means that it
	// depends on the shape only.
	Particular func(*model.Task) bool
	// Expensive reports whether Allows is expensive for a task and Rank adds no points to it. Candidates are then
	// evaluated by descending points, until one is allowed.
	Expensive func(j *Job, t *model.Task) bool
	// MightAllow is a quick check before an expensive Allows; false means that Allows would reject.
	MightAllow func(j *Job, t *model.Task, id model.NodeID, later bool) bool
	// Remote is true if Allows calls another process.
	Remote bool
	// Points returns the points of a node for a task, 0 to 100 times the policy's weight.
	Points func(j *Job, t *model.Task, id model.NodeID) float64
	// Rank adds points to all candidates at once, if the points depend on the other candidates. Nodes are sorted by
	// name.
	Rank func(j *Job, t *model.Task, nodes []model.NodeID, points []float64)
	// ByDomain returns the points of HyperNodes, by Domain.Index. A node gets the points of its lowest HyperNode.
	// Tasks with only such rules take a fast path.
	ByDomain func(t *model.Task) []float64
	// Placed is called when a task is placed on a node (1) or its placement is undone (-1). It is also called with
	// -1 when a promise of an earlier cycle is withdrawn; the task is then Pipelined on that node.
	Placed func(j *Job, t *model.Task, id model.NodeID, sign int)
	// Evicted is called when a task is counted out (1) or spared (-1).
	Evicted func(t *model.Task, sign int)
	// Annotations returns annotations to write to the pod with its binding.
	Annotations func(j *Job, t *model.Task, id model.NodeID) map[string]string
}
