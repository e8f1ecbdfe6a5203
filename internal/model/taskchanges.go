package model

import "github.com/vc-batch/vc/internal/model/podshape"

func (d TaskSet) apply(c *Cluster) {
	key := d.Namespace + "/" + d.Name
	t := c.tasks[d.UID]
	if old := c.taskNames[key]; old != nil && old != t { // re-created under the same name
		c.removeTask(old)
	}
	fresh := t == nil
	if fresh {
		t = &Task{UID: d.UID, Namespace: d.Namespace, Name: d.Name, Node: NoNode, assumedNode: NoNode, nodePos: -1, gangPos: -1}
		t.seen.node = NoNode
		c.tasks[d.UID] = t
		c.taskNames[key] = t
	}
	wasNode, was := t.Node, t.Status
	c.removeTaskFromSums(t)
	if d.Status.HasEnded() {
		c.forgetAttached(t)
	}
	c.updateShape(t, d.Shape)
	c.countRunTimes(t.Expected.HasLimitOrEstimate(), -1)
	t.copyAttributes(&d)
	c.countRunTimes(t.Expected.HasLimitOrEstimate(), 1)
	t.seen = seenTask{node: NoNode, status: d.Status, notes: d.Annotations}
	if d.Node != "" && !d.Status.HasEnded() {
		t.seen.node = c.ensureNodeRow(d.Node)
	}
	before := t.Gang
	t.Gang = c.gangOf(&d)
	needsNode := d.Node == "" && d.Status == Pending
	if d.Ours && d.Group == "" && needsNode {
		c.loose[t] = true
	} else {
		delete(c.loose, t)
	}
	if before != nil && before != t.Gang {
		c.dropUnknownGang(before)
	}
	mayHavePromise := fresh && needsNode && !d.Gated
	if mayHavePromise && t.Gang != nil && d.Nominated != "" {
		t.Node, t.Status = c.ensureNodeRow(d.Nominated), Pipelined // resources were promised before a restart
	}
	t.Nominated = d.Nominated
	node, status := t.mergeAssumptions()
	t.mergeAnnotations()
	c.addTaskToSums(t, node, status)
	usedNode := wasNode != NoNode && was.CountsOnNode()
	if usedNode && !status.CountsOnNode() {
		c.recordEnded(t)
	}
	if status.IsLeaving() || status == Failed {
		c.recordLost(t.Gang, t, was, wasNode)
	}
}

// gangOf returns the gang of a task; nil if the task has none.
func (c *Cluster) gangOf(d *TaskSet) *Gang {
	if !d.Ours || d.Group == "" {
		return nil
	}
	g := c.ensureGang(d.Namespace, d.Group)
	isOrphaned := d.Node != "" && g.Queue == nil
	if isOrphaned && d.Queue != "" {
		g.Queue = c.ensureQueue(d.Queue)
	}
	return g
}

// updateShape updates the task's shape.
func (c *Cluster) updateShape(t *Task, now podshape.Spec) {
	if t.Shape != nil && t.Shape.Key == now.Key() {
		return
	}
	if t.Shape != nil {
		c.releaseShape(t.Shape)
	}
	t.Shape = c.ensureShape(now)
	t.Shape.tasks++
}

func (d TaskGone) apply(c *Cluster) {
	t := c.taskNames[d.Namespace+"/"+d.Name]
	if t == nil || (d.UID != "" && d.UID != t.UID) {
		t = c.tasks[d.UID]
	}
	if t != nil {
		c.removeTask(t)
	}
}

func (c *Cluster) removeTask(t *Task) {
	c.recordLost(t.Gang, t, t.Status, t.Node)
	if t.Node != NoNode && t.Status.CountsOnNode() {
		c.recordEnded(t)
	}
	c.removeTaskFromSums(t)
	c.forgetAttached(t)
	if t.Gang != nil {
		g := t.Gang
		t.Gang = nil
		c.dropUnknownGang(g)
	}
	if t.Shape != nil {
		c.releaseShape(t.Shape)
	}
	c.countRunTimes(t.Expected.HasLimitOrEstimate(), -1)
	delete(c.tasks, t.UID)
	delete(c.loose, t)
	if c.taskNames[t.Key()] == t {
		delete(c.taskNames, t.Key())
	}
}

// moveTaskTo moves a task to a node and status. For Pending tasks, node is NoNode.
func (c *Cluster) moveTaskTo(t *Task, node NodeID, status Status) {
	c.removeTaskFromSums(t)
	c.addTaskToSums(t, node, status)
}

// addTaskToSums adds the task to the sums of its node and gang.
func (c *Cluster) addTaskToSums(t *Task, node NodeID, status Status) {
	t.Node, t.Status = node, status
	c.countQueueGates(t, 1)
	if node != NoNode && !status.HasEnded() {
		c.countTaskOnNode(t, 1)
		n := &c.Nodes
		t.nodePos = len(n.Tasks[node])
		n.Tasks[node] = append(n.Tasks[node], t)
		c.recordClaimUse(t, 1)
		c.trackLeaving(t, true)
	}
	if g := t.Gang; g != nil {
		if t.gangPos < 0 {
			t.gangPos = len(g.Tasks)
			g.Tasks = append(g.Tasks, t)
		}
		c.countTaskInGang(g, t, 1)
	}
}

// removeTaskFromSums reverses addTaskToSums, but leaves the task's node and status unchanged.
func (c *Cluster) removeTaskFromSums(t *Task) {
	c.countQueueGates(t, -1)
	if t.nodePos >= 0 {
		c.trackLeaving(t, false)
		c.countTaskOnNode(t, -1)
		list := c.Nodes.Tasks[t.Node]
		last := list[len(list)-1]
		list[t.nodePos], last.nodePos = last, t.nodePos
		list[len(list)-1] = nil
		c.Nodes.Tasks[t.Node] = list[:len(list)-1]
		c.recordClaimUse(t, -1)
		t.nodePos = -1
		if len(list) == 1 && !c.Nodes.Alive[t.Node] {
			c.dead = append(c.dead, t.Node)
		}
	}
	if g := t.Gang; g != nil && t.gangPos >= 0 {
		c.countTaskInGang(g, t, -1)
		last := g.Tasks[len(g.Tasks)-1]
		g.Tasks[t.gangPos], last.gangPos = last, t.gangPos
		g.Tasks[len(g.Tasks)-1] = nil
		g.Tasks = g.Tasks[:len(g.Tasks)-1]
		t.gangPos = -1
	}
}

// countTaskOnNode adds the task's request, multiplied by sign, to the sums of its node.
func (c *Cluster) countTaskOnNode(t *Task, sign int64) {
	n := &c.Nodes
	base := int(t.Node) * n.Stride
	for _, term := range t.Shape.Request {
		v := sign * term.Value
		i := base + int(term.Index)
		switch {
		case t.Status == Pipelined:
			n.Pipelined[i] += v
		case t.Status.CountsOnNode():
			n.Used[i] += v
			if t.Status == Releasing {
				n.Releasing[i] += v
			}
			if t.isWithoutGang() {
				n.Foreign[i] += v
			}
		}
	}
	if t.isWithoutGang() {
		c.ForeignGen = c.nextGeneration()
	}
	if len(t.Shape.Ports) > 0 {
		n.PortsChanged[t.Node] = c.nextGeneration()
	}
	c.markNodeChanged(t.Node)
}

// MayHaveLooseTasks reports whether LooseTasks may return any pods.
func (c *Cluster) MayHaveLooseTasks() bool { return len(c.loose)+len(c.orphans) > 0 }

// LooseTasks returns the pods of this scheduler that cannot be placed because they name no PodGroup, or a PodGroup
// that does not exist. The order is undefined, because there may briefly be thousands of such pods, of which few
// matter.
func (c *Cluster) LooseTasks() []*Task {
	var out []*Task
	for t := range c.loose {
		out = append(out, t)
	}
	for _, g := range c.orphanedGangs() {
		for _, t := range g.Tasks {
			if t.Status == Pending {
				out = append(out, t)
			}
		}
	}
	return out
}

// orphanedGangs returns the gangs that pods name but whose PodGroup does not exist.
func (c *Cluster) orphanedGangs() []*Gang {
	var out []*Gang
	for g := range c.orphans {
		if g.Known || len(g.Tasks) == 0 {
			delete(c.orphans, g)
			continue
		}
		out = append(out, g)
	}
	return out
}
