package evict

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// likeness identifies gangs for which a search for victims would have the same result. Of two gangs with the same
// likeness, the later one in the order has no more entitlements than the earlier one.
type likeness struct {
	queue    *model.Queue
	shape    *model.Shape
	priority int32
}

// rank identifies gangs that have the same result if a search finds no victim at all.
type rank struct {
	queue    *model.Queue
	priority int32
}

type attempt struct {
	need    int
	failure Failure
}

// Run visits the starving gangs in the order of queues and gangs. For each gang, it tries the cases until one of them
// frees enough resources. The cases evict either pods of the gang's queue or pods of other queues.
func Run(s *cycle.Cycle, cases ...Case) {
	failed, noVictims := map[likeness]attempt{}, map[rank]Failure{}
	between := isBetweenQueues(cases[0].Kind)
	for _, j := range findStarving(s) {
		mine := rank{j.In.Queue, j.Priority}
		if why, ok := noVictims[mine]; ok && j.AllocatedTasks() == 0 {
			recordFailure(s, j, why, between)
			continue
		}
		key, hasKey := likenessOf(s, j)
		if before, ok := failed[key]; ok && hasKey && j.Need() >= before.need {
			recordFailure(s, j, before.failure, between)
			continue
		}
		s.Out.Stats.PreemptionAttempts += len(tasksToPlace(s, j))
		done, why := tryCases(s, j, cases)
		if done {
			continue
		}
		recordFailure(s, j, why, between)
		if hasKey {
			failed[key] = attempt{j.Need(), why}
		}
		if why.NoVictims {
			noVictims[mine] = why
		}
	}
}

// tryCases tries the cases for a gang until one of them frees enough resources.
func tryCases(s *cycle.Cycle, j *framework.Job, cases []Case) (bool, Failure) {
	defer s.UseHeldResources(j)()
	failure := Failure{NoVictims: true}
	for _, c := range cases {
		if isBetweenQueues(c.Kind) && s.Rules.CheckOverused(j.In).Code != "" {
			failure.NoVictims = false
			continue
		}
		if c.Own && j.AllocatedTasks() == 0 { // the gang has no pods to evict
			continue
		}
		done, why := evictInDomains(s, j, c)
		if done {
			return true, Failure{}
		}
		why.NoVictims = why.NoVictims || c.Own
		failure = failure.combineWith(why)
	}
	return false, failure
}

// findStarving returns the gangs for which pods of other gangs may be evicted, in scheduling order. A strict queue
// contributes only its first gang, because later gangs may use free resources by backfill but do not justify
// evictions.
func findStarving(s *cycle.Cycle) []*framework.Job {
	var list []*framework.Job
	line := s.NewStrictLine()
	for _, j := range s.StarvingJobs() {
		if !j.IsAdmitted() || j.HasPromisedResources() || !s.IsTryable(j) {
			continue
		}
		if s.Rules.MayEvictFor(j) && !line.IsBehind(j) {
			list = append(list, j)
		}
	}
	s.SortGangs(list)
	return list
}

// likenessOf returns a gang's likeness. It returns false if the result of a search depends on anything other than the
// number of pods of a single shape.
func likenessOf(s *cycle.Cycle, j *framework.Job) (likeness, bool) {
	first := j.Pending[0]
	like := likeness{j.In.Queue, first.Shape, j.Priority}
	hasHistory := j.AllocatedTasks() > 0 || j.Gang.HasLostByShare()
	if hasHistory || len(j.PendingShapes()) != 1 || len(j.MinTaskMember) > 0 {
		return like, false
	}
	return like, !j.IsStructured() && !s.HasNodeRestriction(j, first)
}

// recordFailure records the reason why no pod was evicted for a gang in the gang's verdict. between is true if pods of
// other queues were considered.
func recordFailure(s *cycle.Cycle, j *framework.Job, f Failure, between bool) {
	v := j.Verdict
	if v.Code == "" {
		return
	}
	before := v
	if s.MarkFirstAttack(j) {
		v.Spared = nil
		if v.Code == reason.NotReclaimable {
			v.Code, v.Blocker = reason.GangDoesNotFit, nil
		}
	}
	if f.Code == reason.NotReclaimable && v.Code == reason.GangDoesNotFit {
		v.Code, v.Blocker = f.Code, f.Blockers
	}
	if len(f.Spared) > 0 {
		v.Spared = explain.ReplaceSpared(v.Spared, f.Spared, between)
	}
	if v.Code != before.Code || !slices.Equal(v.Blocker, before.Blocker) || !slices.Equal(v.Spared, before.Spared) {
		s.SetVerdict(j, v)
	}
}
