// Package evict chooses whom to evict so that a gang can start: as few as do it,
// and nobody unless it does.
//
//	In:   a starving gang, the session
//	Out:  evictions and the gang's promised room, or nothing
//
// # Invariants
//
//   - Nothing is evicted unless the whole gang then fits.
//   - No unit of the victims can be put back with the gang still fitting.
//   - A victim gang loses its surplus over its minimum, or all of itself.
//   - A queue that takes stays within what it deserves, one that gives holds more than it deserves: so what was
//     taken is never taken back without a change from outside.
package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// unit is what is evicted together: one surplus task, or a whole gang.
type unit struct {
	gang  *model.Gang
	from  *queue.Queue
	tasks []*model.Task
}

// victims lists the units of all queues that give back, cheapest first: queues
// most over their share first, in each surplus before whole gangs, in each the
// gangs whose turn comes last first. blockers are the queues, by name, that hold
// more than they deserve but do not give back.
func victims(s *session.Session, taker *session.Job, asked model.Request, shapes []*model.Shape) (units []unit, blockers []string) {
	queues := slices.Clone(s.Ledger.Queues)
	slices.SortFunc(queues, func(a, b *queue.Queue) int { return s.Rules.CompareQueues(b, a) })
	gangs := s.GangsByQueue()
	for _, q := range queues {
		if q == taker.In || !s.Rules.MayLose(q, asked) {
			continue
		}
		if !q.Reclaimable || !q.Known {
			blockers = append(blockers, q.Name)
			continue
		}
		var surplus, whole []unit
		for _, g := range gangs[q.Queue] {
			if j := s.Job(g); len(j.Placed)+len(j.Promised) > 0 { // it grows in this very cycle
				continue
			}
			mine, rest := split(s, g, q, shapes)
			surplus = append(surplus, mine...)
			whole = append(whole, rest...)
		}
		units = append(append(units, surplus...), whole...)
	}
	slices.Sort(blockers)
	return units, blockers
}

// split divides what a gang could lose into its surplus, task by task, and all
// of it as one. A gang with a task that may not be evicted only has surplus.
func split(s *session.Session, g *model.Gang, q *queue.Queue, shapes []*model.Shape) (surplus, whole []unit) {
	var running []*model.Task
	intact := true
	for _, t := range g.Tasks {
		switch {
		case t.Status != model.Running && t.Status != model.Bound:
			intact = intact && !t.Status.Allocated()
		case !t.Preemptable || s.Rules.IsProtected(t):
			intact = false
		default:
			running = append(running, t)
		}
	}
	slices.SortFunc(running, func(a, b *model.Task) int { return s.Rules.CompareTasks(b, a) })
	spare := g.Ready() - g.MinMember
	roles := roleSpare(g)
	rest := 0
	for _, t := range running {
		left, limited := roles[t.Role]
		if spare > 0 && (!limited || left > 0) && useful(s, t, shapes) {
			surplus = append(surplus, unit{gang: g, from: q, tasks: []*model.Task{t}})
			spare--
			if limited {
				roles[t.Role] = left - 1
			}
			continue
		}
		rest++
	}
	if intact && rest > 0 && slices.ContainsFunc(running, func(t *model.Task) bool { return useful(s, t, shapes) }) {
		whole = append(whole, unit{gang: g, from: q, tasks: running})
	}
	return surplus, whole
}

// roleSpare is how many tasks each role with a minimum can lose.
func roleSpare(g *model.Gang) map[string]int {
	if len(g.MinTaskMember) == 0 {
		return nil
	}
	spare := make(map[string]int, len(g.MinTaskMember))
	for role, n := range g.MinTaskMember {
		spare[role] = -n
	}
	for _, t := range g.Tasks {
		if _, limited := spare[t.Role]; limited && (t.Status.Allocated() || t.Status == model.Succeeded) {
			spare[t.Role]++
		}
	}
	return spare
}

// useful says whether a task's room could serve one of the shapes.
func useful(s *session.Session, t *model.Task, shapes []*model.Shape) bool {
	for _, shape := range shapes {
		if s.Judge.Allowed(shape, t.Node) && shares(shape.Request, t.Shape.Request) {
			return true
		}
	}
	return false
}

func shares(a, b model.Request) bool {
	for _, t := range a {
		if t.Index != model.Pods && b.Get(int(t.Index)) > 0 {
			return true
		}
	}
	return a.Empty()
}
