package accountlimits

import (
	"slices"
	"time"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// forecast simulates the counts of the scopes as time passes. It implements framework.LimitForecast. It makes the same checks
// as the cycle, but on a copy of the tally.
type forecast struct {
	rules

	now time.Time
	// renewal is the next time at which the period of a budget begins; zero if there is none.
	renewal time.Time
	// started holds the start of each pod that starts in the forecast. placed holds the pods that got a node in this cycle or
	// in the forecast.
	started map[*model.Task]time.Time
	placed  map[*model.Gang][]*model.Task
	// gone holds the pods that have ended or were evicted in the forecast. done is the number of pods that have ended.
	gone map[*model.Task]bool
	done map[*model.Gang]int
}

// newForecast returns a forecast that begins with the state of a cycle, in which the given gangs got nodes.
func newForecast(s *session.Session, t *tally, bound []*framework.Job) *forecast {
	f := &forecast{
		rules: rules{s: s, tally: t.copyForForecast()}, now: s.Now, started: map[*model.Task]time.Time{},
		placed: map[*model.Gang][]*model.Task{}, gone: map[*model.Task]bool{}, done: map[*model.Gang]int{},
	}
	for _, j := range bound {
		for _, p := range j.Placed {
			f.placed[j.Gang] = append(f.placed[j.Gang], p.Task)
		}
	}
	f.renewBudgets(s.Now)
	return f
}

// Permits implements framework.LimitForecast.
func (f *forecast) Permits(j *framework.Job, request resource.Request) bool {
	if !j.IsAdmitted() && f.checkAdmission(j).Code != "" {
		return false
	}
	return f.checkHolding(j, request).Code == ""
}

// CountStarted implements framework.LimitForecast.
func (f *forecast) CountStarted(j *framework.Job, tasks []*model.Task, at time.Time) {
	names := f.s.Cluster.Resources
	f.placed[j.Gang] = append(f.placed[j.Gang], tasks...)
	for _, task := range tasks {
		f.started[task] = at
	}
	f.tally.changePart(j.Gang, func(p *part) {
		if !j.IsAdmitted() {
			p.admitted, p.floor = true, minimumOf(j.Gang, j.MinResources, j.MinMember)
		}
		for _, task := range tasks {
			p.placed++
			p.held.Add(task.Shape.Request)
			for i := range p.budgets {
				p.budgets[i].addTask(names, task, p.budgets[i].of.usage.Since, 1)
			}
		}
	})
}

// CountEnded implements framework.LimitForecast.
func (f *forecast) CountEnded(task *model.Task, at time.Time, isDone bool) {
	g := task.Gang
	if g == nil {
		return
	}
	f.gone[task] = true
	f.tally.changePart(g, func(p *part) {
		p.held.Sub(task.Shape.Request)
		for i := range p.budgets {
			f.settle(&p.budgets[i], task, at)
		}
		if !isDone {
			return
		}
		f.done[g]++
		p.floor.Sub(task.Shape.Request)
		if g.Count[model.Succeeded]+g.Count[model.Failed]+f.done[g] >= max(g.MinMember, 1) {
			p.admitted, p.readmits = false, false
		}
	})
}

// settle removes the reservation of a pod that releases its resources, and adds the time that the pod has used to the usage
// of the budget.
func (f *forecast) settle(p *budgetPart, task *model.Task, at time.Time) {
	names, since := f.s.Cluster.Resources, p.of.usage.Since
	limit, started := limitInSeconds(task.ChargedLimit()), f.startOf(task)
	used := secondsUsed(started, at, since, limit)
	for _, term := range task.Shape.Request {
		index := int(term.Index)
		units := resource.TimeUnits(names.Name(index), term.Value)
		reserved := resource.MultiplyTime(units, limit-secondsUsed(started, since, time.Time{}, limit))
		p.reserved.AddRequest(resource.Request{{Index: term.Index, Value: reserved}}, -1)
		for len(p.of.ended) <= index {
			p.of.ended = append(p.of.ended, 0)
		}
		p.of.ended[index] = resource.AddTime(p.of.ended[index], resource.MultiplyTime(units, used))
	}
}

// startOf returns the start of a pod that has a node: its start in the forecast, its recorded start, or else now.
func (f *forecast) startOf(task *model.Task) time.Time {
	if at, isLater := f.started[task]; isLater {
		return at
	}
	if task.Started.IsZero() {
		return f.now
	}
	return task.Started
}

// NextRenewal implements framework.LimitForecast.
func (f *forecast) NextRenewal() time.Time { return f.renewal }

// Renew implements framework.LimitForecast.
func (f *forecast) Renew(at time.Time) {
	if isDue := !f.renewal.IsZero() && !at.Before(f.renewal); isDue {
		f.renewBudgets(at)
	}
}

// renewBudgets starts the usage of the budgets whose period has begun since the last renewal at zero. Pods that still run
// then reserve the rest of their time limits.
func (f *forecast) renewBudgets(at time.Time) {
	renewed := map[string]bool{} // by account
	f.renewal = time.Time{}
	for account, b := range f.tally.budgets {
		if start := b.spec.StartAt(at); b.usage.Since.Before(start) {
			b.usage, b.ended = &model.BudgetUsage{Since: start}, nil
			renewed[account] = true
		}
		next := b.spec.NextStart(at)
		if isFirst := f.renewal.IsZero() || next.Before(f.renewal); isFirst && !next.IsZero() {
			f.renewal = next
		}
	}
	if len(renewed) > 0 {
		f.reserveAgain(renewed)
	}
}

// reserveAgain computes the reservations of renewed budgets from the pods that have not ended.
func (f *forecast) reserveAgain(renewed map[string]bool) {
	for g, original := range f.tally.original.parts {
		isRenewed := func(p budgetPart) bool { return renewed[p.of.account] }
		if !slices.ContainsFunc(original.budgets, isRenewed) {
			continue
		}
		f.tally.changePart(g, func(p *part) {
			tasks := f.tasksOnNodes(g)
			for i := range p.budgets {
				if own := &p.budgets[i]; renewed[own.of.account] {
					own.reserved = f.restOfLimits(tasks, own.of.usage.Since)
				}
			}
		})
	}
}

// restOfLimits returns what pods may use after a time, until they reach their time limits.
func (f *forecast) restOfLimits(tasks []*model.Task, since time.Time) (rest resource.Balance) {
	for _, task := range tasks {
		limit := limitInSeconds(task.ChargedLimit())
		seconds := limit - secondsUsed(f.startOf(task), since, time.Time{}, limit)
		for _, term := range task.Shape.Request {
			units := resource.TimeUnits(f.s.Cluster.Resources.Name(int(term.Index)), term.Value)
			rest.AddRequest(resource.Request{{Index: term.Index, Value: resource.MultiplyTime(units, seconds)}}, 1)
		}
	}
	return rest
}

// tasksOnNodes returns the pods of a gang that use a node at the time of the forecast.
func (f *forecast) tasksOnNodes(g *model.Gang) []*model.Task {
	tasks := slices.Clone(f.placed[g])
	for _, task := range g.Tasks {
		if task.Node != model.NoNode && !task.Status.HasEnded() {
			tasks = append(tasks, task)
		}
	}
	return slices.DeleteFunc(tasks, func(task *model.Task) bool { return f.gone[task] })
}

// copyForForecast returns a copy of the tally that can be changed. It copies the part of a gang only when it is needed.
func (t *tally) copyForForecast() *tally {
	c := &tally{
		cluster: t.cluster, original: t, parts: map[*model.Gang]*part{}, paths: map[member][]*scope{}, budgets: map[string]*budget{},
		scopes: make(map[model.Party]*scope, len(t.scopes)), qosScopes: make(map[member]*scope, len(t.qosScopes)),
		decided: map[*model.Gang]bool{}, changed: map[*scope]bool{},
	}
	for account, b := range t.budgets {
		fresh := *b
		fresh.ended, fresh.reserved, fresh.unplaced = slices.Clone(b.ended), slices.Clone(b.reserved), slices.Clone(b.unplaced)
		fresh.rate, fresh.offset = slices.Clone(b.rate), slices.Clone(b.offset)
		c.budgets[account] = &fresh
	}
	for of, s := range t.scopes {
		c.scopes[of] = c.copyScope(s)
	}
	for of, s := range t.qosScopes {
		c.qosScopes[of] = c.copyScope(s)
	}
	return c
}

// copyScope copies a scope of the original.
func (t *tally) copyScope(s *scope) *scope {
	fresh := *s
	fresh.claimed, fresh.held, fresh.refused = slices.Clone(s.claimed), slices.Clone(s.held), nil
	if s.budget != nil {
		fresh.budget = t.budgets[s.account]
	}
	return &fresh
}

// copyPart copies the part of a gang from the original.
func (t *tally) copyPart(g *model.Gang) *part {
	fresh := *t.original.parts[g]
	fresh.in = t.scopesOf(memberOf(g))
	fresh.floor, fresh.claimed, fresh.held = fresh.floor.Clone(), fresh.claimed.Clone(), fresh.held.Clone()
	fresh.budgets = slices.Clone(fresh.budgets)
	for i := range fresh.budgets {
		p := &fresh.budgets[i]
		p.of = t.budgets[p.of.account]
		p.reserved, p.unplaced = slices.Clone(p.reserved), slices.Clone(p.unplaced)
		p.rate, p.offset = slices.Clone(p.rate), slices.Clone(p.offset)
	}
	return &fresh
}
