package evict

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// unit is a set of tasks that are evicted together: a surplus task, a surplus sub-group or a whole gang.
type unit struct {
	gang  *model.Gang
	from  *queue.Queue
	tasks []*model.Task
	whole bool
	rank  int           // position of its gang in the order in which gangs lose pods, over all queues
	use   float64       // sum over the requested resources: which part of each request the unit would free
	lost  time.Duration // run time that its eviction would waste
}

// orderClass returns the queue and the priority. The order of whole gangs may be changed freely within a class.
func (u *unit) orderClass() [2]any { return [2]any{u.from, u.gang.Priority} }

// mayTradePlaces reports whether both units are whole gangs of one class.
func (u *unit) mayTradePlaces(other *unit) bool {
	return u.whole && other.whole && other.orderClass() == u.orderClass()
}

// census lists the possible victims of an attack, and the reasons why other pods are excluded.
type census struct {
	units []unit
	// spared counts the tasks that must not be evicted.
	spared []explain.Spared
	// some is true if any task may be evicted, even if its resources would not help.
	some bool
	// blockers lists, by name, the queues that would have to give resources but are not reclaimable.
	blockers []string
}

// countEvictable returns the number of a gang's tasks in the units.
func (c *census) countEvictable(g *model.Gang) int {
	tasks := map[*model.Task]bool{}
	for i := range c.units {
		if c.units[i].gang != g {
			continue
		}
		for _, t := range c.units[i].tasks {
			tasks[t] = true
		}
	}
	return len(tasks)
}

// lister collects the units of an attack.
type lister struct {
	s      *cycle.Cycle
	attack *framework.Attack
	c      Case
	may    []framework.Guard // rules that must permit a victim: the guards, and the entitlements of a tier
	shapes []*model.Shape
	asked  resource.Request
	barred map[*model.Gang]bool
	census census
}

// listVictims returns the units of an attack, surplus units before whole gangs. In each part, they are sorted by queue,
// in the order in which queues lose resources. Within a queue, gangs of lower priority come first, then gangs that
// are later in scheduling order, then gangs that lose less work.
func (l *lister) listVictims() *census {
	gangs := l.s.GangsByQueue()
	rank := 0
	for _, q := range l.victimQueues() {
		list := l.victimGangs(gangs[q.Queue])
		if len(list) == 0 {
			continue
		}
		if l.isBetweenQueues() && (!q.Reclaimable || !q.Known) {
			if l.hasUsefulVictim(list) {
				l.census.blockers = append(l.census.blockers, q.Name)
			}
			continue
		}
		for _, g := range list {
			rank++
			l.addGangUnits(g, q, rank)
		}
	}
	slices.SortStableFunc(l.census.units, func(a, b unit) int { return compareBool(a.whole, b.whole) })
	slices.Sort(l.census.blockers)
	explain.SortSpared(l.census.spared)
	return &l.census
}

// isBetweenQueues reports whether the attack evicts pods of other queues.
func (l *lister) isBetweenQueues() bool { return isBetweenQueues(l.attack.Kind) }

// victimQueues returns the queues that may lose resources, in the order in which they lose them.
func (l *lister) victimQueues() []*queue.Queue {
	mine := l.attack.Taker.In
	if !l.isBetweenQueues() {
		return []*queue.Queue{mine}
	}
	others := slices.DeleteFunc(slices.Clone(l.s.Ledger.Queues), func(q *queue.Queue) bool { return q == mine })
	slices.SortStableFunc(others, func(a, b *queue.Queue) int { return l.s.Rules.CompareVictimQueues(mine, a, b) })
	return others
}

// victimGangs returns those gangs of a queue that may lose pods, in the order in which they lose them.
func (l *lister) victimGangs(gangs []*model.Gang) []*model.Gang {
	var list []*model.Gang
	for _, g := range gangs {
		j := l.s.Job(g)
		switch {
		case j == nil || l.c.Own != (j == l.attack.Taker):
		case !l.c.Own && len(j.Placed)+len(j.Promised) > 0: // it is growing in this cycle
		case l.barred[g]:
		default:
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b *model.Gang) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), l.s.Rules.CompareJobsByPolicy(l.s.Job(b), l.s.Job(a)), cmp.Compare(totalRunTime(l.s, a.Tasks), totalRunTime(l.s, b.Tasks)))
	})
	return list
}

// totalRunTime returns the total run time of tasks.
func totalRunTime(s *cycle.Cycle, tasks []*model.Task) time.Duration {
	var sum time.Duration
	for _, t := range tasks {
		if t.Status == model.Running && !t.Started.IsZero() && s.Now.After(t.Started) {
			sum += s.Now.Sub(t.Started).Truncate(time.Second)
		}
	}
	return sum
}

// hasUsefulVictim reports whether a queue has a useful victim, which means that it would lose resources if it were
// reclaimable.
func (l *lister) hasUsefulVictim(gangs []*model.Gang) bool {
	for _, g := range gangs {
		for _, t := range g.Tasks {
			isOnNode := t.Status == model.Running || t.Status == model.Bound
			if isOnNode && !t.IsProtected() && l.isUseful(t) {
				if _, why := l.findRefusal([]*model.Task{t}); why == nil {
					return true
				}
			}
		}
	}
	return false
}

// addGangUnits divides a gang into units: one unit for each surplus task or sub-group, and one for the whole gang. A
// gang with a task that must not be evicted has only surplus units.
func (l *lister) addGangUnits(g *model.Gang, q *queue.Queue, rank int) {
	if code, ok := l.findGangRefusal(g); ok {
		l.countSpared(code, "", g.Count[model.Running]+g.Count[model.Bound])
		return
	}
	running, intact := l.removableTasks(g)
	if len(running) == 0 {
		return
	}
	l.census.some = true
	slices.SortStableFunc(running, func(a, b *model.Task) int { return l.s.Rules.CompareTasks(b, a) })
	if l.c.Own {
		for _, t := range running {
			if l.isUseful(t) {
				l.appendUnit(g, q, []*model.Task{t}, false, rank)
			}
		}
		return
	}
	rest, some := 0, false
	surplus := l.s.Job(g).Surplus()
	for _, t := range running {
		if !l.isUseful(t) {
			rest++
			continue
		}
		some = true
		if !surplus.TakeTask(t) {
			rest++
			continue
		}
		l.appendUnit(g, q, []*model.Task{t}, false, rank)
	}
	for _, group := range surplus.TakeGroups(running) { // sub-groups start and leave as a whole
		if slices.ContainsFunc(group, l.isUseful) {
			l.appendUnit(g, q, group, false, rank)
		}
	}
	if rest > 0 && some {
		l.addWholeGang(g, q, running, intact, rest, rank)
	}
}

// addWholeGang adds a unit with all evictable tasks of a gang, if the gang may be evicted as a whole. rest is the
// number of tasks that are in no other unit.
func (l *lister) addWholeGang(g *model.Gang, q *queue.Queue, running []*model.Task, intact bool, rest, rank int) {
	if !intact || l.c.Surplus {
		l.countSpared(reason.AtMinimum, "", rest)
		return
	}
	if guard, why := l.findRefusal(running); why != nil {
		l.countSpared(guard, *why, rest)
		return
	}
	l.appendUnit(g, q, running, true, rank)
}

// findGangRefusal reports whether a guard or entitlement protects the gang as a whole, and returns the code of the
// rejection.
func (l *lister) findGangRefusal(g *model.Gang) (reason.Code, bool) {
	for i := range l.may {
		if l.may[i].Gang != nil && !l.may[i].Gang(g) {
			return cmp.Or(l.may[i].Code, reason.ByPolicy), true
		}
	}
	return "", false
}

func (l *lister) appendUnit(g *model.Gang, q *queue.Queue, tasks []*model.Task, whole bool, rank int) {
	u := unit{gang: g, from: q, tasks: tasks, whole: whole, rank: rank, lost: totalRunTime(l.s, tasks)}
	for _, term := range l.asked {
		if term.Index == resource.Pods || term.Value == 0 {
			continue
		}
		sum := int64(0)
		for _, t := range tasks {
			sum += t.Shape.Request.Get(int(term.Index))
		}
		u.use += min(float64(sum)/float64(term.Value), 1)
	}
	l.census.units = append(l.census.units, u)
}

// removableTasks returns the tasks of a gang that may be evicted individually. intact is true if no other task of the
// gang occupies a node.
func (l *lister) removableTasks(g *model.Gang) (running []*model.Task, intact bool) {
	intact = true
	for _, t := range g.Tasks {
		switch {
		case t.Status != model.Running && t.Status != model.Bound:
			intact = intact && !t.Status.IsAllocated()
		case t.IsProtected():
			intact = false
			l.countSpared(reason.NotPreemptable, "", 1)
		case l.c.Own && t.Priority >= l.attack.Tasks[0].Priority:
		default:
			if code, why := l.findRefusal([]*model.Task{t}); why != nil {
				intact = false
				l.countSpared(code, *why, 1)
				continue
			}
			running = append(running, t)
		}
	}
	return running, intact
}

// findRefusal returns the first rejection by a guard or entitlement. why is nil if the tasks may be evicted.
func (l *lister) findRefusal(tasks []*model.Task) (code reason.Code, why *string) {
	for i := range l.may {
		if ok, text := l.may[i].May(tasks); !ok {
			return cmp.Or(l.may[i].Code, reason.ByPolicy), &text
		}
	}
	return "", nil
}

func (l *lister) countSpared(code reason.Code, detail string, tasks int) {
	l.census.spared = explain.AddSpared(l.census.spared, code, detail, tasks)
}

// isUseful reports whether the resources of a task could serve any of the requested shapes.
func (l *lister) isUseful(t *model.Task) bool {
	if l.c.Within != nil && !l.c.Within(t.Node) {
		return false
	}
	for _, shape := range l.shapes {
		if shape.BestEffort && !t.Shape.BestEffort {
			continue
		}
		if l.s.Judge.IsAllowed(shape, t.Node) && l.couldServe(t, shape) {
			return true
		}
	}
	return false
}

// couldServe reports whether the end of a task could free something that a shape needs: a resource, a pod slot, or
// anything else that the task blocks.
func (l *lister) couldServe(t *model.Task, shape *model.Shape) bool {
	return sharesResource(shape.Request, t.Shape.Request) || l.hasNoPodSlot(t.Node) || l.isBlockedBy(shape, t)
}

// hasNoPodSlot reports whether a node has no free pod slot.
func (l *lister) hasNoPodSlot(id model.NodeID) bool {
	return l.s.View.Nodes.Row(l.s.View.Future, id)[resource.Pods] < 1
}

// isBlockedBy reports whether a task blocks a shape by something other than resources, which is either a host port or
// rules about other pods.
func (l *lister) isBlockedBy(shape *model.Shape, t *model.Task) bool {
	for _, p := range shape.Ports {
		for _, held := range t.Shape.Ports {
			if p.ConflictsWith(held) {
				return true
			}
		}
	}
	return shape.Slow || t.Shape.Slow
}

func sharesResource(a, b resource.Request) bool {
	for _, t := range a {
		if t.Index != resource.Pods && b.Get(int(t.Index)) > 0 {
			return true
		}
	}
	return a.IsEmpty()
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
