package evict

import (
	"cmp"
	"slices"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// unit is what is evicted together: one surplus task, or a whole gang.
type unit struct {
	gang  *model.Gang
	from  *queue.Queue
	tasks []*model.Task
	whole bool
	rank  int           // of its gang in the order in which gangs lose, all queues together
	use   float64       // how much of what is asked its room could serve, 1: all of it
	lost  time.Duration // work that is lost with it
}

// class is what whole gangs must have in common for another order among them to
// be as good: queue and priority.
func (u *unit) class() [2]any { return [2]any{u.from, u.gang.Priority} }

// census is who could go for an attack, and why the others could not.
type census struct {
	units []unit
	// spared counts the tasks that may not go.
	spared []explain.Spared
	// some: there are tasks that may go, whether their room serves or not.
	some bool
	// blockers are the queues, by name, that would have to give and do not.
	blockers []string
}

// lister collects the units of an attack.
type lister struct {
	s      *session.Session
	attack *session.Attack
	c      Case
	may    []session.Guard // guards, and the entitlements of a tier
	shapes []*model.Shape
	asked  model.Request
	barred map[*model.Gang]bool
	census census
}

// victims lists the units of an attack: surplus before whole gangs; in each the
// queues in the order in which they lose, in those the gangs of lower priority
// first, then in the reverse of their turns, then those that lose less work.
func (l *lister) victims() *census {
	gangs := l.s.GangsByQueue()
	rank := 0
	for _, q := range l.queues() {
		list := l.losers(gangs[q.Queue])
		if len(list) == 0 {
			continue
		}
		if l.between() && (!q.Reclaimable || !q.Known) {
			if l.wouldGive(list) {
				l.census.blockers = append(l.census.blockers, q.Name)
			}
			continue
		}
		for _, g := range list {
			rank++
			l.gang(g, q, rank)
		}
	}
	slices.SortStableFunc(l.census.units, func(a, b unit) int { return compareBool(a.whole, b.whole) })
	slices.Sort(l.census.blockers)
	explain.SortSpared(l.census.spared)
	return &l.census
}

// between says whether the attack is between queues.
func (l *lister) between() bool {
	return l.attack.Kind == session.Reclaim || l.attack.Kind == session.GangReclaim
}

// queues that may lose, first ones first.
func (l *lister) queues() []*queue.Queue {
	mine := l.attack.Taker.In
	if !l.between() {
		return []*queue.Queue{mine}
	}
	others := slices.DeleteFunc(slices.Clone(l.s.Ledger.Queues), func(q *queue.Queue) bool { return q == mine })
	slices.SortStableFunc(others, func(a, b *queue.Queue) int { return l.s.Rules.CompareVictimQueues(mine, a, b) })
	return others
}

// losers are the gangs of a queue in the order in which they lose.
func (l *lister) losers(gangs []*model.Gang) []*model.Gang {
	var list []*model.Gang
	for _, g := range gangs {
		j := l.s.Job(g)
		switch {
		case j == nil || l.c.Own != (j == l.attack.Taker):
		case !l.c.Own && len(j.Placed)+len(j.Promised) > 0: // it grows in this very cycle
		case l.barred[g]:
		default:
			list = append(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b *model.Gang) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), l.s.Rules.OrderJobs(l.s.Job(b), l.s.Job(a)), cmp.Compare(work(l.s, a.Tasks), work(l.s, b.Tasks)))
	})
	return list
}

// work is how long tasks have run, in seconds times their number.
func work(s *session.Session, tasks []*model.Task) time.Duration {
	var sum time.Duration
	for _, t := range tasks {
		if t.Status == model.Running && !t.Started.IsZero() && s.Now.After(t.Started) {
			sum += s.Now.Sub(t.Started).Truncate(time.Second)
		}
	}
	return sum
}

// wouldGive says whether a queue would have to give, if it gave at all.
func (l *lister) wouldGive(gangs []*model.Gang) bool {
	for _, g := range gangs {
		for _, t := range g.Tasks {
			if (t.Status == model.Running || t.Status == model.Bound) && !t.Protected() && l.useful(t) {
				if _, why := l.refused([]*model.Task{t}); why == nil {
					return true
				}
			}
		}
	}
	return false
}

// gang divides what a gang could lose into its surplus, task by task, and all of
// it as one. A gang with a task that may not be evicted only has surplus.
func (l *lister) gang(g *model.Gang, q *queue.Queue, rank int) {
	if code, ok := l.quickNo(g); ok {
		l.spare(code, "", g.Count[model.Running]+g.Count[model.Bound])
		return
	}
	running, intact := l.removable(g)
	if len(running) == 0 {
		return
	}
	l.census.some = true
	slices.SortStableFunc(running, func(a, b *model.Task) int { return l.s.Rules.CompareTasks(b, a) })
	if l.c.Own {
		for _, t := range running {
			if l.useful(t) {
				l.add(g, q, []*model.Task{t}, false, rank)
			}
		}
		return
	}
	rest, some := 0, false
	surplus := l.s.Surplus(g)
	for _, t := range running {
		if !l.useful(t) {
			rest++
			continue
		}
		some = true
		if !surplus.Take(t) {
			rest++
			continue
		}
		l.add(g, q, []*model.Task{t}, false, rank)
	}
	for _, group := range surplus.TakeGroups(running) { // whole, as it started
		if slices.ContainsFunc(group, l.useful) {
			l.add(g, q, group, false, rank)
		}
	}
	switch {
	case rest == 0 || !some:
	case !intact || l.c.Surplus:
		l.spare(reason.AtMinimum, "", rest)
	default:
		if guard, why := l.refused(running); why != nil {
			l.spare(guard, *why, rest)
			return
		}
		l.add(g, q, running, true, rank)
	}
}

// quickNo says whether all tasks of a gang are refused.
func (l *lister) quickNo(g *model.Gang) (reason.Code, bool) {
	for i := range l.may {
		if l.may[i].Gang != nil && !l.may[i].Gang(g) {
			return cmp.Or(l.may[i].Code, reason.ByPolicy), true
		}
	}
	return "", false
}

func (l *lister) add(g *model.Gang, q *queue.Queue, tasks []*model.Task, whole bool, rank int) {
	u := unit{gang: g, from: q, tasks: tasks, whole: whole, rank: rank, lost: work(l.s, tasks)}
	for _, term := range l.asked {
		if term.Index == model.Pods || term.Value == 0 {
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

// removable are the tasks of a gang that may go each by itself; intact: there is
// no other that holds a node.
func (l *lister) removable(g *model.Gang) (running []*model.Task, intact bool) {
	intact = true
	for _, t := range g.Tasks {
		switch {
		case t.Status != model.Running && t.Status != model.Bound:
			intact = intact && !t.Status.Allocated()
		case t.Protected():
			intact = false
			l.spare(reason.NotPreemptable, "", 1)
		case l.c.Own && t.Priority >= l.attack.Tasks[0].Priority:
		default:
			if code, why := l.refused([]*model.Task{t}); why != nil {
				intact = false
				l.spare(code, *why, 1)
				continue
			}
			running = append(running, t)
		}
	}
	return running, intact
}

// refused asks all guards and entitlements; why is nil when all let the tasks go.
func (l *lister) refused(tasks []*model.Task) (code reason.Code, why *string) {
	for i := range l.may {
		if ok, text := l.may[i].May(tasks); !ok {
			return cmp.Or(l.may[i].Code, reason.ByPolicy), &text
		}
	}
	return "", nil
}

func (l *lister) spare(code reason.Code, detail string, tasks int) {
	l.census.spared = explain.AddSpared(l.census.spared, code, detail, tasks)
}

// useful says whether a task's room could serve one of the shapes.
func (l *lister) useful(t *model.Task) bool {
	if l.c.Within != nil && !l.c.Within(t.Node) {
		return false
	}
	for _, shape := range l.shapes {
		if shape.BestEffort && !t.Shape.BestEffort {
			continue
		}
		if l.s.Judge.Allowed(shape, t.Node) && (shares(shape.Request, t.Shape.Request) || l.slot(t.Node) || l.conflicts(shape, t)) {
			return true
		}
	}
	return false
}

// slot says whether the number of pods is what a node is short of.
func (l *lister) slot(id model.NodeID) bool {
	return l.s.View.Nodes.Row(l.s.View.Future, id)[model.Pods] < 1
}

// conflicts says whether a task is in the way by something else than room: a
// port, or what pods say of each other.
func (l *lister) conflicts(shape *model.Shape, t *model.Task) bool {
	for _, p := range shape.Ports {
		for _, held := range t.Shape.Ports {
			if p.Conflicts(held) {
				return true
			}
		}
	}
	return shape.Slow || t.Shape.Slow
}

func shares(a, b model.Request) bool {
	for _, t := range a {
		if t.Index != model.Pods && b.Get(int(t.Index)) > 0 {
			return true
		}
	}
	return a.Empty()
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
