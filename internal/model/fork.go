package model

import (
	"maps"
	"slices"

	"github.com/vc-batch/vc/internal/model/resource"
)

// Fork returns a copy of the cluster. Another goroutine may read and change the copy while this cluster changes, too.
// Both use the same objects where these are never changed but only replaced, such as API objects, labels, node
// information and statuses. The copy needs its own engine.
func (c *Cluster) Fork() *Cluster {
	c.refreshQueues()
	f := &fork{from: c, to: &Cluster{}}
	*f.to = *c
	f.copyShapes()
	f.copyQueues()
	f.copyGangs()
	f.copyTasks()
	f.copyNodes()
	f.copyRest()
	return f.to
}

// fork is a copy that is being made.
type fork struct {
	from, to *Cluster
	shapes   map[*Shape]*Shape
	gangs    map[*Gang]*Gang
	tasks    map[*Task]*Task
}

// copyShapes copies the shapes, because they count their tasks.
func (f *fork) copyShapes() {
	c := f.to
	slab := make([]Shape, 0, len(f.from.shapes))
	f.shapes = make(map[*Shape]*Shape, len(f.from.shapes))
	c.Shapes = make([]*Shape, len(f.from.Shapes))
	c.shapes = make(map[string]*Shape, len(f.from.shapes))
	for id, s := range f.from.Shapes {
		if s == nil {
			continue
		}
		slab = append(slab, *s)
		fresh := &slab[len(slab)-1]
		f.shapes[s], c.Shapes[id], c.shapes[s.Key] = fresh, fresh, fresh
	}
	for _, s := range c.shapes {
		s.Plain = f.shapes[s.Plain]
	}
	c.freeShapes = slices.Clone(f.from.freeShapes)
}

func (f *fork) copyQueues() {
	f.to.Queues = make(map[string]*Queue, len(f.from.Queues))
	for name, q := range f.from.Queues {
		fresh := *q
		fresh.Sums = cloneSums(&q.Sums)
		for i := range fresh.sums {
			fresh.sums[i] = slices.Clone(fresh.sums[i])
		}
		fresh.HasCapability = slices.Clone(q.HasCapability)
		f.to.Queues[name] = &fresh
	}
}

// copyOfQueue returns the copy of a queue; nil if the queue is nil.
func (f *fork) copyOfQueue(q *Queue) *Queue {
	if q == nil {
		return nil
	}
	return f.to.Queues[q.Name]
}

func (f *fork) copyGangs() {
	c := f.to
	slab := make([]Gang, 0, len(f.from.Gangs))
	f.gangs = make(map[*Gang]*Gang, len(f.from.Gangs))
	c.Gangs = make(map[string]*Gang, len(f.from.Gangs))
	for key, g := range f.from.Gangs {
		slab = append(slab, *g)
		fresh := &slab[len(slab)-1]
		f.gangs[g], c.Gangs[key] = fresh, fresh
		fresh.Queue, fresh.queued = f.copyOfQueue(g.Queue), f.copyOfQueue(g.queued)
		fresh.Sums, fresh.contributed = cloneSums(&g.Sums), cloneSums(&g.contributed)
		for _, sum := range []*resource.Balance{&fresh.held, &fresh.asked, &fresh.promised, &fresh.leaving, &fresh.lingering} {
			*sum = slices.Clone(*sum)
		}
		fresh.placements = maps.Clone(g.placements)
		for task, shape := range fresh.placements {
			fresh.placements[task] = f.shapes[shape]
		}
		fresh.Lost, fresh.shareLosses = slices.Clone(g.Lost), maps.Clone(g.shareLosses)
	}
	c.gangUIDs = maps.Clone(f.from.gangUIDs)
	for uid, g := range c.gangUIDs {
		c.gangUIDs[uid] = f.gangs[g]
	}
	c.bereft, c.orphans = copyPointerSet(f.from.bereft, f.gangs), copyPointerSet(f.from.orphans, f.gangs)
	c.stale = nil
}

func (f *fork) copyTasks() {
	c := f.to
	slab := make([]Task, 0, len(f.from.tasks))
	f.tasks = make(map[*Task]*Task, len(f.from.tasks))
	c.tasks, c.taskNames = maps.Clone(f.from.tasks), maps.Clone(f.from.taskNames)
	for uid, t := range f.from.tasks {
		slab = append(slab, *t)
		fresh := &slab[len(slab)-1]
		f.tasks[t], c.tasks[uid] = fresh, fresh
		fresh.Shape = f.shapes[t.Shape]
		if t.Gang != nil {
			fresh.Gang = f.gangs[t.Gang]
		}
	}
	for name, t := range c.taskNames {
		c.taskNames[name] = f.tasks[t]
	}
	for _, g := range f.gangs {
		g.Tasks = f.copiesOfTasks(g.Tasks)
	}
	c.loose, c.leaving, c.lingering = copyPointerSet(f.from.loose, f.tasks), copyPointerSet(f.from.leaving, f.tasks), copyPointerSet(f.from.lingering, f.tasks)
}

// copiesOfTasks returns the copies of the given tasks.
func (f *fork) copiesOfTasks(tasks []*Task) []*Task {
	out := make([]*Task, len(tasks))
	for i, t := range tasks {
		out[i] = f.tasks[t]
	}
	return out
}

func (f *fork) copyNodes() {
	from, to := &f.from.Nodes, &f.to.Nodes
	for i, values := range from.valueArrays() {
		*to.valueArrays()[i] = slices.Clone(*values)
	}
	to.Name, to.Alive, to.Info = slices.Clone(from.Name), slices.Clone(from.Alive), slices.Clone(from.Info)
	to.Changed, to.Labeled, to.Usage = slices.Clone(from.Changed), slices.Clone(from.Labeled), slices.Clone(from.Usage)
	to.PortsChanged = slices.Clone(from.PortsChanged)
	to.ImageNodes, to.byName, to.free = maps.Clone(from.ImageNodes), maps.Clone(from.byName), slices.Clone(from.free)
	to.Tasks = make([][]*Task, len(from.Tasks))
	for id, tasks := range from.Tasks {
		to.Tasks[id] = f.copiesOfTasks(tasks)
	}
	f.to.Total, f.to.total, f.to.dead = slices.Clone(f.from.Total), slices.Clone(f.from.total), slices.Clone(f.from.dead)
}

func (f *fork) copyRest() {
	from, to := f.from, f.to
	to.Resources = from.Resources.Clone()
	to.Numa, to.Namespaces, to.Budgets = maps.Clone(from.Numa), maps.Clone(from.Namespaces), maps.Clone(from.Budgets)
	to.Shuffled, to.Quotas, to.Usage = maps.Clone(from.Shuffled), maps.Clone(from.Quotas), maps.Clone(from.Usage)
	to.BudgetUsage, to.EndedPods = maps.Clone(from.BudgetUsage), slices.Clone(from.EndedPods)
	to.classes, to.accounts, to.qos = maps.Clone(from.classes), maps.Clone(from.accounts), maps.Clone(from.qos)
	to.HyperNodes = make(map[string]*HyperNode, len(from.HyperNodes))
	for name, h := range from.HyperNodes {
		fresh := *h
		fresh.matched = maps.Clone(h.matched)
		to.HyperNodes[name] = &fresh
	}
	to.topologyInfos = slices.Clone(from.topologyInfos)
	to.nodeLog, to.gangLog = changeLog[NodeID]{from: from.gen}, changeLog[*Gang]{from: from.gen}
	f.copyAttachable()
}

func (f *fork) copyAttachable() {
	a := &f.to.Attachable
	a.VolumeClaims, a.Volumes, a.Classes = a.VolumeClaims.CloneIndexes(), a.Volumes.CloneIndexes(), a.Classes.CloneIndexes()
	a.CSINodes, a.CSIDrivers, a.Capacities = a.CSINodes.CloneIndexes(), a.CSIDrivers.CloneIndexes(), a.Capacities.CloneIndexes()
	a.Attachments, a.DeviceClaims = a.Attachments.CloneIndexes(), a.DeviceClaims.CloneIndexes()
	a.Slices, a.DeviceClasses, a.TaintRules = a.Slices.CloneIndexes(), a.DeviceClasses.CloneIndexes(), a.TaintRules.CloneIndexes()
	a.users = maps.Clone(a.users)
	for claim, users := range a.users {
		a.users[claim] = f.copiesOfTasks(users)
	}
}

// copyPointerSet returns a set that contains the copies of the items of another set.
func copyPointerSet[T any](set map[*T]bool, copies map[*T]*T) map[*T]bool {
	out := make(map[*T]bool, len(set))
	for item := range set {
		if fresh := copies[item]; fresh != nil { // items that no longer exist are removed from the sets later
			out[fresh] = true
		}
	}
	return out
}
