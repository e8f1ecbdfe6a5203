package evict

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/placement"
)

// maxBarred limits how many gangs the search excludes because they would take the resources back. Once the limit is
// reached, the search stops.
const maxBarred = 32

// MakeRoomFor frees resources for a gang by evicting pods. It returns true on success; otherwise, it returns the
// reason.
func MakeRoomFor(s *cycle.Cycle, j *framework.Job, c Case) (bool, Failure) {
	tasks := tasksToPlace(s, j)
	switch {
	case len(tasks) == 0:
		return false, Failure{}
	case slices.ContainsFunc(tasks, func(t *model.Task) bool { return t.Shape.Impossible || s.IsTooLarge(t.Shape) }):
		return false, Failure{}
	case slices.ContainsFunc(tasks, func(t *model.Task) bool { return t.Never }):
		return false, Failure{Spared: []explain.Spared{{Code: reason.NeverPreempts}}}
	}
	a := &framework.Attack{Kind: c.Kind, Taker: j, Tasks: tasks, Asked: framework.SumRequests(tasks)}
	if s.Rules.CheckHoldable(j, a.Asked).Code != "" { // the victims count toward the limit until they have ended
		return false, Failure{}
	}
	between := isBetweenQueues(c.Kind)
	if between && s.Rules.MayTake(j.In, a.Asked).Code != "" {
		return false, Failure{}
	}
	failure := Failure{NoVictims: true}
	tiers := s.Rules.EntitlementTiers(a)
	for _, tier := range tiers {
		if s.Cluster.LostToEarlierTier(j.Gang, between, tier) {
			failure.NoVictims = false
			failure.Spared = explain.AddSpared(failure.Spared, reason.GaveByShare, "", 0)
			continue
		}
		done, why := searchTier(s, a, c, tier)
		if done {
			return true, Failure{}
		}
		why.NoVictims = why.NoVictims && failure.NoVictims
		if len(failure.Spared)+len(failure.Blockers) == 0 || tier == tiers[len(tiers)-1] {
			failure = why
		}
		failure.NoVictims = why.NoVictims
	}
	return false, failure
}

// tasksToPlace returns the tasks for which the evictions must free resources.
func tasksToPlace(s *cycle.Cycle, j *framework.Job) []*model.Task {
	if s.Rules.Gang && !j.IsSatisfied() {
		return j.MinimumTasks()
	}
	return j.Pending[:min(1, len(j.Pending))]
}

// searchTier searches for victims using the entitlements of a single tier.
func searchTier(s *cycle.Cycle, a *framework.Attack, c Case, tier int) (bool, Failure) {
	grants := s.Rules.GrantsOfTier(a, tier)
	may := append(s.Rules.GuardsAgainst(a), grants...)
	barred := map[*model.Gang]bool{}
	var failure Failure
	for len(barred) < maxBarred {
		l := &lister{s: s, attack: a, c: c, may: may, shapes: distinctShapes(a.Tasks), asked: a.Asked, barred: barred}
		census := l.listVictims()
		if len(barred) == 0 {
			failure = failureFromCensus(census)
			failure.NoVictims = !census.some && !slices.ContainsFunc(may, func(g framework.Guard) bool { return !g.Static })
		}
		p := &plan{
			s: s, attack: a, c: c, units: census.units, may: may, grants: grants, tier: tier, trial: newTrial(a, c),
			bound: newBound(s, a.Tasks, l.shapes, c.Within), out: make([]bool, len(census.units)), times: map[*model.Task]int{},
		}
		chosen, ok := p.findBestVictims()
		if !ok {
			return false, failure
		}
		chosen, wide := p.spareElsewhere(chosen, l.shapes)
		answering := p.gangsTakingBack(chosen)
		if len(answering) == 0 {
			if wide {
				s.RunWithin(nil, func() { p.commitEvictions(chosen) })
			} else {
				p.commitEvictions(chosen)
			}
			return true, Failure{}
		}
		p.spareUnits(chosen)
		for _, g := range answering {
			barred[g] = true
			failure.Spared = explain.AddSpared(failure.Spared, reason.WouldTakeBack, "", census.countEvictable(g))
		}
		explain.SortSpared(failure.Spared)
	}
	return false, failure
}

// failureFromCensus returns the failure to report if no plan was found for the victims in the census.
func failureFromCensus(c *census) Failure {
	f := Failure{Blockers: c.blockers, Spared: c.spared}
	if len(c.blockers) > 0 {
		f.Code = reason.NotReclaimable
	}
	if len(c.units) > 0 {
		f.Spared = append(slices.Clip(f.Spared), explain.Spared{Code: reason.NotEnoughVictims})
	}
	return f
}

// newTrial returns the settings for a trial placement of the gang. If the victims are in the gang's queue, the gang may
// use as much as the queue held before the evictions, even if that exceeds a share, but not if it exceeds the capability:
// if the capability was lowered, enough victims must be found for the queue to stay within it.
func newTrial(a *framework.Attack, c Case) placement.Trial {
	trial := placement.Trial{Grow: true}
	if a.Kind == framework.Preempt || a.Kind == framework.GangPreempt {
		trial.Swap = slices.Clone(a.Taker.In.Allocated)
	}
	if c.Own {
		trial.First = a.Tasks[0]
	}
	return trial
}

func distinctShapes(tasks []*model.Task) []*model.Shape {
	var shapes []*model.Shape
	for _, t := range tasks {
		if len(shapes) == 0 || (shapes[len(shapes)-1] != t.Shape && !slices.Contains(shapes, t.Shape)) {
			shapes = append(shapes, t.Shape)
		}
	}
	return shapes
}

// gangsTakingBack returns the victim gangs that could take the resources back, either through an earlier tier or
// through the other action that evicts between the same queues. Evicting these gangs would only cause another
// eviction.
func (p *plan) gangsTakingBack(chosen []int) []*model.Gang {
	var answering []*model.Gang
	if p.c.Own {
		return nil
	}
	defer p.s.SimulateHeld(p.attack.Taker, p.attack.Tasks)()
	for _, i := range chosen {
		u := &p.units[i]
		if j := p.s.Job(u.gang); j != nil && !slices.Contains(answering, u.gang) && p.couldTakeBack(j, u.tasks) {
			answering = append(answering, u.gang)
		}
	}
	return answering
}

// couldTakeBack reports whether a gang that lost tasks could take the resources back, either for all lost tasks or for
// the first tasks that it needs.
func (p *plan) couldTakeBack(j *framework.Job, tasks []*model.Task) bool {
	if first := firstNeededTasks(j, tasks); len(first) < len(tasks) && p.mayTakeBack(j, first) {
		return true
	}
	return p.mayTakeBack(j, tasks)
}

// firstNeededTasks returns the lost tasks that would bring a gang back to its minimum, or a single task if the gang
// still has its minimum. These are the tasks that would be lost last.
func firstNeededTasks(j *framework.Job, lost []*model.Task) []*model.Task {
	return lost[max(len(lost)-max(j.Need(), 1), 0):]
}

func (p *plan) mayTakeBack(j *framework.Job, tasks []*model.Task) bool {
	for _, kind := range p.s.Attacks {
		if !isSameSide(kind, p.attack.Kind) {
			continue
		}
		back := &framework.Attack{Kind: kind, Taker: j, Tasks: tasks, Asked: framework.SumRequests(tasks)}
		for _, tier := range p.s.Rules.EntitlementTiers(back) {
			if tier > p.tier || (tier == p.tier && kind == p.attack.Kind) {
				continue
			}
			if grantsAll(p.s.Rules.GrantsOfTier(back, tier), p.attack.Tasks) {
				return true
			}
		}
	}
	return false
}

// isSameSide reports whether both kinds of eviction act inside a queue, or both between queues.
func isSameSide(a, b framework.AttackKind) bool {
	return isBetweenQueues(a) == isBetweenQueues(b)
}

func grantsAll(grants []framework.Guard, tasks []*model.Task) bool {
	for k := range grants {
		if ok, _ := grants[k].May(tasks); !ok {
			return false
		}
	}
	return true
}
