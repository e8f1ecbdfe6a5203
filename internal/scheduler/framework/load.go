package framework

import (
	"cmp"
	"slices"
	"strings"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// LoadFromGang updates the job from its gang, whose queue is given by in. It sorts the tasks and groups by the orders
// that policies registered in rules.
func (j *Job) LoadFromGang(in *queue.Queue, rules *Rules) {
	j.In = in
	j.Phase = j.Status.Phase
	if j.Phase == "" {
		j.Phase = schedulingv1beta1.PodGroupPending
	}
	if j.seen == j.Gen {
		return
	}
	j.seen = j.Gen
	j.MinMember, j.MinTaskMember, j.MinResources, j.Priority = j.Gang.MinMember, j.Gang.MinTaskMember, j.Gang.MinResources, j.Gang.Priority
	if n := j.Count[model.Pending] + j.Count[model.Pipelined]; cap(j.backing) < n {
		j.backing = make([]*model.Task, 0, n)
	}
	j.Pending, j.Reserved, j.AtGate = j.backing[:0], j.Reserved[:0], j.AtGate[:0]
	j.opening = false
	for _, t := range j.Tasks {
		switch {
		case t.AtQueueGate():
			j.AtGate = append(j.AtGate, t)
		case t.Gated:
			j.opening = j.opening || t.IsUngating()
		case t.Status == model.Pipelined:
			j.Reserved = append(j.Reserved, t)
			j.Pending = append(j.Pending, t)
		case t.Status == model.Pending:
			j.Pending = append(j.Pending, t)
		}
	}
	slices.SortFunc(j.AtGate, rules.CompareTasks)
	j.loadGroups(rules)
	slices.SortFunc(j.Pending, func(a, b *model.Task) int {
		return cmp.Or(CompareBool(a.Shape.BestEffort, b.Shape.BestEffort), rules.CompareTasks(a, b))
	})
}

// ClearResults drops the results of the last cycle.
func (j *Job) ClearResults() {
	j.Placed, j.Promised, j.Evicted = j.Placed[:0], j.Promised[:0], 0
	j.Released, j.Passed = j.Released[:0], nil
	clear(j.Leaving)
	j.Touched = false
}

// loadGroups assigns the tasks to groups. A task belongs to the group of the first policy that selects it.
func (j *Job) loadGroups(rules *Rules) {
	j.groupOrder = rules.GroupOrder
	j.groups, j.groupOf = j.groups[:0], nil
	if len(j.SubGroups) == 0 {
		return
	}
	j.groupOf = make(map[*model.Task]*Group, len(j.Tasks))
	known := map[string]*Group{}
	for _, t := range j.Tasks {
		for i := range j.SubGroups {
			p := &j.SubGroups[i]
			name, index, ok := p.GroupOfLabels(t.Labels)
			if !ok {
				continue
			}
			key := string(rune('0'+i)) + name
			g := known[key]
			if g == nil {
				g = &Group{Name: name, Policy: p, order: i, index: index, loose: !rules.Groups}
				known[key] = g
				j.groups = append(j.groups, g)
			}
			g.Tasks = append(g.Tasks, t)
			if t.Status.IsAllocated() || t.Status == model.Succeeded {
				g.Held++
			}
			j.groupOf[t] = g
			break
		}
	}
	slices.SortFunc(j.groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(uint(a.index), uint(b.index)), strings.Compare(a.Name, b.Name))
	})
}
