package framework

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// NodeRule is a policy's rule for placing individual tasks on individual nodes, in addition to the judge's filters
// and weights. Applies should select as few tasks as possible, because tasks without such rules take a fast path. All
// functions except Applies may be nil. A rule is registered in every cycle and may keep state for that cycle.
type NodeRule struct {
	// Name is the name of the policy.
	Name string
	// Reserves is true for a rule that enforces a reservation.
	Reserves bool
	// Applies reports whether the rule applies to a task.
	Applies func(*Job, *model.Task) bool
	// Allows returns the reason why a node cannot run a task, or "" if it can. If later is true, resources that are
	// being released count as free.
	Allows func(j *Job, t *model.Task, id model.NodeID, later bool) (code reason.Code, detail string)
	// Particular reports whether the result of Allows depends on the task and not only on its shape. If it is nil,
	// the result depends only on the shape.
	Particular func(*model.Task) bool
	// Expensive reports whether Allows is expensive for a task and Rank adds no points for it. In this case,
	// candidates are evaluated in descending order of points until one of them is allowed.
	Expensive func(j *Job, t *model.Task) bool
	// MightAllow is a quick check before an expensive Allows. It returns false only if Allows would reject the node.
	MightAllow func(j *Job, t *model.Task, id model.NodeID, later bool) bool
	// Remote is true if Allows calls another process.
	Remote bool
	// Points returns the points of a node for a task: 0 to 100, multiplied by the policy's weight.
	Points func(j *Job, t *model.Task, id model.NodeID) float64
	// Rank adds points to all candidates in one call. It is used if the points depend on the other candidates. The
	// nodes are sorted by name.
	Rank func(j *Job, t *model.Task, nodes []model.NodeID, points []float64)
	// ByDomain returns the points of HyperNodes, indexed by Domain.Index. A node gets the points of the lowest
	// HyperNode that contains it. Tasks to which only such rules apply take a fast path.
	ByDomain func(t *model.Task) []float64
	// Placed is called when a task is placed on a node (sign 1) or the placement is undone (sign -1). It is also
	// called with -1 when a promise from an earlier cycle is withdrawn; the task is then Pipelined on that node.
	Placed func(j *Job, t *model.Task, id model.NodeID, sign int)
	// Evicted is called when a task is counted out as a victim (sign 1) or is spared again (sign -1).
	Evicted func(t *model.Task, sign int)
	// Annotations returns the annotations to write to the pod together with its binding.
	Annotations func(j *Job, t *model.Task, id model.NodeID) map[string]string
}
