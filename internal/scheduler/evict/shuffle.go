package evict

import (
	"slices"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Shuffle evicts the tasks that policies want to move, as selected by the first tier that selects any. It records
// which policies moved tasks, so that each can wait for its period before it moves tasks again.
func Shuffle(s *cycle.Cycle) { moveTasks(s, s.Rules.Movers) }

// ReleaseIncomplete evicts the pods of gangs that never reached their minimum. Every action that binds gangs must call
// ReleaseIncomplete.
func ReleaseIncomplete(s *cycle.Cycle) { moveTasks(s, s.Rules.Releases) }

func moveTasks(s *cycle.Cycle, movers []framework.Mover) {
	a := &framework.Attack{Kind: framework.Shuffle}
	guards := s.Rules.GuardsAgainst(a)
	named, tier := false, 0
	for _, mover := range movers {
		if named && mover.Tier != tier {
			return
		}
		tasks, why := mover.Victims()
		if len(tasks) == 0 {
			continue
		}
		named, tier = true, mover.Tier
		m := &moving{s: s, guards: guards, mover: mover, why: why}
		for _, part := range groupByGang(tasks) {
			m.evictFromGang(part)
		}
		if m.moved {
			s.Out.Shuffles = append(s.Out.Shuffles, mover.Name)
		}
	}
}

// groupByGang groups tasks by gang, in the order of each gang's first task.
func groupByGang(tasks []*model.Task) [][]*model.Task {
	var parts [][]*model.Task
	at := map[*model.Gang]int{}
	for _, t := range tasks {
		if t.Gang == nil || (t.Status != model.Running && t.Status != model.Bound) {
			continue
		}
		i, known := at[t.Gang]
		if !known {
			i = len(parts)
			at[t.Gang] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], t)
	}
	return parts
}

type moving struct {
	s      *cycle.Cycle
	guards []framework.Guard
	mover  framework.Mover
	why    string
	moved  bool
}

// evictFromGang evicts tasks of one gang. If the policy limits the number of tasks, it evicts up to that many.
// Otherwise, it evicts the surplus tasks among them or, if none exist, the whole gang.
func (m *moving) evictFromGang(tasks []*model.Task) {
	g := tasks[0].Gang
	j := m.s.Job(g)
	if j == nil || len(j.Placed)+len(j.Promised) > 0 {
		return
	}
	if most := m.maximumTasks(g); most >= 0 {
		for _, t := range tasks[:min(most, len(tasks))] {
			m.evictTogether(j, []*model.Task{t})
		}
		return
	}
	surplus := m.s.Job(g).Surplus()
	taken := 0
	for _, t := range tasks {
		if surplus.TakeTask(t) && m.evictTogether(j, []*model.Task{t}) {
			taken++
		}
	}
	if taken > 0 {
		return
	}
	whole := slices.DeleteFunc(slices.Clone(g.Tasks), func(t *model.Task) bool { return !t.Status.IsAllocated() })
	if !slices.ContainsFunc(whole, func(t *model.Task) bool { return t.Status == model.Binding }) {
		slices.SortStableFunc(whole, m.s.Rules.CompareTasks)
		m.evictTogether(j, whole)
	}
}

func (m *moving) maximumTasks(g *model.Gang) int {
	if m.mover.Most == nil {
		return -1
	}
	return m.mover.Most(g)
}

// evictTogether evicts tasks together, provided that all of them may be evicted.
func (m *moving) evictTogether(j *framework.Job, tasks []*model.Task) bool {
	for _, t := range tasks {
		if t.IsProtected() || j.Leaving[t] {
			return false
		}
	}
	for i := range m.guards {
		if ok, _ := m.guards[i].May(tasks); !ok {
			return false
		}
	}
	for _, t := range tasks {
		for i := range m.guards {
			if m.guards[i].Out != nil {
				m.guards[i].Out([]*model.Task{t}, 1)
			}
		}
		m.s.CountEvicted(t, j.In, 1)
		m.s.Out.Evicts = append(m.s.Out.Evicts, decision.Evict{
			Pod:    decision.Object{Namespace: t.Namespace, Name: t.Name, UID: t.UID},
			Gang:   decision.Object{Namespace: j.Namespace, Name: j.Gang.Name, UID: j.UID},
			Queue:  j.In.Name,
			Node:   m.s.View.Nodes.Name[t.Node],
			Reason: string(framework.Shuffle), Message: m.why,
		})
	}
	m.moved = true
	m.s.RecordEvicted(j.Gang, len(tasks))
	return true
}
