// Package overlay provides a modifiable copy of the nodes' free resources with an undo log. A cycle tries placements
// on it and rolls them back if a gang cannot be placed as a whole.
//
//	In:   model.Cluster (read only)
//	Out:  Idle and Future of each node, including the effects of the placements tried so far
//
// # Invariants
//
//   - After Rollback(m), every value equals its value when Mark returned m.
//   - Sync makes the overlay equal to the model and touches only rows that differ.
//   - Idle and Future change only together with an entry in the change log.
//
// # Concurrency
//
// Each engine has its own Overlay.
package overlay

import (
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Overlay holds the nodes' free resources during a cycle. Rows are indexed by model.NodeID and have the model's
// stride.
type Overlay struct {
	Nodes *model.Nodes
	// Idle is the allocatable amount minus the used amount. Future is Idle plus the resources that are being
	// released, minus the promised resources. A task may start only on a node where it fits into both.
	Idle, Future []int64
	// Order lists the live nodes by name. Rank is the inverse of Order, and -1 for nodes that are not alive. Ties
	// between nodes are broken by rank.
	Order []model.NodeID
	Rank  []int32

	Changes Changes
	// Grown lists the nodes whose resources grew or whose labels changed at the last Sync.
	Grown []model.NodeID
	// Touched reports whether any node or any task on a node had changed at the last Sync.
	Touched bool
	// LabelsChanged is the model generation of the latest known change to labels or taints.
	LabelsChanged uint64
	// left marks the resources that another component checks; see ExcludeResources.
	left []bool
	// Releasing is the number of nodes with resources that are being released.
	Releasing int
	// Epoch changes when the set of nodes or the width of a row changes.
	Epoch uint64

	undo      []entry
	ports     []heldPort
	evicted   map[*model.Task]bool // tasks with host ports that are evicted in this cycle
	ended     map[*model.Task]bool // tasks with host ports that a forecast assumes to have ended
	moved     []model.NodeID
	isMoved   []bool
	syncedGen uint64
	nodeSet   uint64
	releasing []bool
	everSync  bool
}

type kind uint8

const (
	take kind = iota
	promise
	release
	free
	hold
	end
	vacate
)

// entry is a step that can be undone.
type entry struct {
	node model.NodeID
	kind kind
	task *model.Task
}

type heldPort struct {
	node model.NodeID
	task *model.Task
}

// LabelGeneration returns the model generation up to which changes to labels and taints have been read.
func (o *Overlay) LabelGeneration() uint64 { return o.syncedGen }

// Sync makes the overlay equal to the model.
func (o *Overlay) Sync(c *model.Cluster) {
	o.Nodes = &c.Nodes
	o.Grown, o.Touched = o.Grown[:0], false
	for i := range o.undo { // the last cycle freed these after it had tried other gangs
		e := &o.undo[i]
		isRanked := int(e.node) < len(o.Rank) && o.Rank[e.node] >= 0
		if isRanked && (e.kind == release || e.kind == free) {
			o.Grown = append(o.Grown, e.node)
			o.Touched = true
		}
	}
	o.undo, o.ports = o.undo[:0], o.ports[:0]
	clear(o.evicted)
	stale := o.moved
	for _, id := range stale {
		o.isMoved[id] = false
	}
	o.moved = o.moved[:0]
	if !o.everSync || o.nodeSet != c.NodeSetGen || len(o.isMoved) != c.Nodes.Len() {
		o.reloadAllRows(c)
		return
	}
	for _, id := range stale {
		o.refreshRow(id)
	}
	if !c.NodesSince(o.syncedGen, o.refreshRow) {
		for id := range c.Nodes.Name {
			o.refreshRow(model.NodeID(id))
		}
	}
	o.syncedGen = c.Gen()
}

// reloadAllRows loads all rows. It is called when the set of nodes has changed.
func (o *Overlay) reloadAllRows(c *model.Cluster) {
	n := c.Nodes.Len()
	o.everSync = true
	o.nodeSet = c.NodeSetGen
	o.Epoch++
	o.Idle, o.Future = resizeAndClear(o.Idle, n*c.Nodes.Stride), resizeAndClear(o.Future, n*c.Nodes.Stride)
	o.isMoved, o.releasing = make([]bool, n), make([]bool, n)
	o.Rank = make([]int32, n)
	for i := range o.Rank {
		o.Rank[i] = -1
	}
	o.Order = c.Nodes.AppendSortedLive(o.Order)
	o.Releasing = 0
	for rank, id := range o.Order {
		o.Rank[id] = int32(rank)
		o.loadNodeRow(id)
	}
	o.Changes.reset(n)
	// Any parked gang may fit now.
	o.Grown = append(o.Grown[:0], o.Order...)
	o.Touched = true
	o.syncedGen = c.Gen()
}

func resizeAndClear(v []int64, n int) []int64 {
	if cap(v) < n {
		return make([]int64, n)
	}
	v = v[:n]
	clear(v)
	return v
}

// loadNodeRow recomputes a row from the model. It reports whether the row's free resources grew and whether anything
// changed.
func (o *Overlay) loadNodeRow(id model.NodeID) (grew, changed bool) {
	n := o.Nodes
	base := int(id) * n.Stride
	releasing := false
	for i := base; i < base+n.Stride; i++ {
		idle := n.Alloc[i] - n.Used[i]
		future := idle + n.Releasing[i] - n.Pipelined[i]
		if len(o.left) > 0 && o.IsExcluded(i-base) {
			idle, future = resource.MaxAmount, resource.MaxAmount
		}
		releasing = releasing || n.Releasing[i] > 0
		if idle != o.Idle[i] || future != o.Future[i] {
			changed = true
			grew = grew || idle > o.Idle[i] || future > o.Future[i]
			o.Idle[i], o.Future[i] = idle, future
		}
	}
	if releasing != o.releasing[id] {
		o.releasing[id] = releasing
		if releasing {
			o.Releasing++
		} else {
			o.Releasing--
		}
	}
	return grew, changed
}

// refreshRow reloads one row. The row counts as grown if resources were freed on the node, or if the previous cycle
// used resources there that are free in the model.
func (o *Overlay) refreshRow(id model.NodeID) {
	if o.Rank[id] < 0 {
		return
	}
	grew, changed := o.loadNodeRow(id)
	relabeled := o.Nodes.Labeled[id] > o.syncedGen
	hasOtherPorts := o.Nodes.PortsChanged[id] > o.syncedGen
	if changed || relabeled || hasOtherPorts {
		o.Changes.add(id)
	}
	if relabeled {
		o.LabelsChanged = max(o.LabelsChanged, o.Nodes.Labeled[id])
	}
	if grew || relabeled {
		o.Grown = append(o.Grown, id)
	}
	o.Touched = true
}

func (o *Overlay) recordMoved(id model.NodeID) {
	if !o.isMoved[id] {
		o.isMoved[id] = true
		o.moved = append(o.moved, id)
	}
	if o.Rank[id] >= 0 { // pods of a deleted node can still be evicted
		o.Changes.add(id)
	}
}

func (o *Overlay) addRequest(values []int64, id model.NodeID, r resource.Request, sign int64) {
	base := int(id) * o.Nodes.Stride
	for _, t := range r {
		values[base+int(t.Index)] += sign * t.Value
	}
}

// AssignIdle assigns a node's idle resources to a task.
func (o *Overlay) AssignIdle(id model.NodeID, t *model.Task) { o.applyStep(entry{id, take, t}) }

// PromiseReleasing assigns resources that are being released on a node to a task.
func (o *Overlay) PromiseReleasing(id model.NodeID, t *model.Task) {
	o.applyStep(entry{id, promise, t})
}

// WithdrawPromise cancels a promise that is recorded in the model, which means that the task is Pipelined.
func (o *Overlay) WithdrawPromise(id model.NodeID, t *model.Task) { o.applyStep(entry{id, free, t}) }

// EvictTask marks the resources of a running task as being released.
func (o *Overlay) EvictTask(id model.NodeID, t *model.Task) { o.applyStep(entry{id, release, t}) }

// CancelEviction reverts EvictTask for a task without undoing the later steps.
func (o *Overlay) CancelEviction(id model.NodeID, t *model.Task) { o.applyStep(entry{id, hold, t}) }

// AssumeEnded assumes, for a forecast, that a task has ended and its resources are idle. leaving is true if they were
// already being released. The caller must roll the step back.
func (o *Overlay) AssumeEnded(id model.NodeID, t *model.Task, leaving bool) {
	if leaving {
		o.applyStep(entry{id, vacate, t})
		return
	}
	o.applyStep(entry{id, end, t})
}

func (o *Overlay) applyStep(e entry) {
	o.addStepEffect(e, 1)
	o.undo = append(o.undo, e)
	if len(e.task.Shape.Ports) > 0 && (e.kind == take || e.kind == promise) {
		o.ports = append(o.ports, heldPort{e.node, e.task})
	}
}

func (o *Overlay) addStepEffect(e entry, sign int64) {
	r := e.task.Shape.Request
	switch e.kind {
	case take:
		o.addRequest(o.Idle, e.node, r, -sign)
		o.addRequest(o.Future, e.node, r, -sign)
	case promise, hold:
		o.addRequest(o.Future, e.node, r, -sign)
	case release, free:
		o.addRequest(o.Future, e.node, r, sign)
	case end:
		o.addRequest(o.Idle, e.node, r, sign)
		o.addRequest(o.Future, e.node, r, sign)
	case vacate:
		o.addRequest(o.Idle, e.node, r, sign)
	}
	if len(e.task.Shape.Ports) > 0 && (e.kind == end || e.kind == vacate) {
		if o.ended == nil {
			o.ended = map[*model.Task]bool{}
		}
		o.ended[e.task] = sign > 0
	}
	if len(e.task.Shape.Ports) > 0 && (e.kind == release || e.kind == hold) {
		if o.evicted == nil {
			o.evicted = map[*model.Task]bool{}
		}
		o.evicted[e.task] = (e.kind == release) == (sign > 0)
	}
	o.recordMoved(e.node)
}

// Mark returns the current position for Rollback.
func (o *Overlay) Mark() int { return len(o.undo) }

// Rollback undoes all steps after a mark, in reverse order.
func (o *Overlay) Rollback(mark int) {
	for i := len(o.undo) - 1; i >= mark; i-- {
		e := o.undo[i]
		o.addStepEffect(e, -1)
		if len(e.task.Shape.Ports) > 0 && (e.kind == take || e.kind == promise) {
			o.ports = o.ports[:len(o.ports)-1]
		}
	}
	o.undo = o.undo[:mark]
}

// FitsNow reports whether a request fits into both Idle and Future.
func (o *Overlay) FitsNow(id model.NodeID, r resource.Request) bool {
	base := int(id) * o.Nodes.Stride
	for _, t := range r {
		i := base + int(t.Index)
		if t.Value > o.Idle[i] || t.Value > o.Future[i] {
			return false
		}
	}
	return true
}

// FitsLater reports whether a request will fit once all resources that are being released are free.
func (o *Overlay) FitsLater(id model.NodeID, r resource.Request) bool {
	base := int(id) * o.Nodes.Stride
	for _, t := range r {
		if t.Value > o.Future[base+int(t.Index)] {
			return false
		}
	}
	return true
}

// HasFreePorts reports whether the host ports are free on a node, considering the model's tasks and the tasks that
// this cycle placed. If later is true, the ports of leaving tasks count as free. Tasks in the model that only have
// promised resources use no ports.
func (o *Overlay) HasFreePorts(id model.NodeID, ports []podshape.Port, later bool) bool {
	ok := true
	o.Nodes.VisitPorts(id, func(t *model.Task, held podshape.Port) bool {
		if t.Status == model.Pipelined || o.ended[t] {
			return true
		}
		if later && (t.Status == model.Releasing || o.evicted[t]) {
			return true
		}
		ok = ok && !hasPortConflict(held, ports)
		return ok
	})
	for i := range o.ports {
		if o.ports[i].node == id && !o.ended[o.ports[i].task] {
			for _, held := range o.ports[i].task.Shape.Ports {
				ok = ok && !hasPortConflict(held, ports)
			}
		}
	}
	return ok
}

func hasPortConflict(held podshape.Port, ports []podshape.Port) bool {
	for _, p := range ports {
		if p.ConflictsWith(held) {
			return true
		}
	}
	return false
}

// EachPlacement calls visit for the tasks that this cycle placed or promised resources to, in order.
func (o *Overlay) EachPlacement(visit func(id model.NodeID, t *model.Task)) {
	for i := range o.undo {
		if k := o.undo[i].kind; k == take || k == promise {
			visit(o.undo[i].node, o.undo[i].task)
		}
	}
}
