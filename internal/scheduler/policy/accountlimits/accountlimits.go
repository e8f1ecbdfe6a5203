// Package accountlimits enforces the limits of accounts, of their users and of QOS on running jobs. The engine runs it even if
// the configuration does not list it.
//
//	In:   the tree of accounts and the QOS; the party, QOS, phase, minimum and pods of each gang
//	Out:  the rules of framework.GangLimits, also for forecasts; Decisions.BudgetUsage
//
// The limits of a gang are, in this order: the limits of its QOS for all jobs, for each user and for each account; the
// limits of its user in its account, the limits of the account, and the limits of each ancestor of the account. A gang
// whose user is unknown has no limits as a user. A gang whose account or QOS does not exist has none of their limits.
//
// A gang counts as a job from its admission until its minimum has ended. It also counts while any of its pods uses a
// node, even if the pod is being deleted. An array is one gang, so it is one job.
//
// The claim of a gang is the amount that counts toward a limit. For each resource, it is the greater of two amounts: the
// request of the gang's minimum without the pods that have succeeded, and the resources that its pods use.
//
// A budget limits the resources that the gangs of an account use over time. Three amounts count: the usage of pods that
// have ended, the worst case of pods on nodes, and the worst case of the pods that admitted gangs still need for their
// minimum. The worst case of a pod is its request multiplied by its time limit. The budget of an account is checked
// after its other limits.
//
// # Invariants
//
//   - The same holds for budgets as for the limits of resources. The usage of a budget never exceeds the budget, unless
//     the budget was lowered.
//   - A gang is admitted only if the number and the claims of all gangs, including this one, stay within each limit.
//   - A pod is placed only if the claims of all gangs, and the resources that pods use until they have ended, stay within
//     each limit. Both include this pod. So a limit holds even if it was lowered, or if pods of a completed gang are
//     created again.
//   - Everything follows from the model. A new engine makes the same decisions.
//   - Only changed gangs are processed. A cycle without changes costs nothing, regardless of the number of gangs.
//
// # Concurrency
//
// Each engine has its own Policy.
package accountlimits

import (
	"time"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Policy implements the accountlimits policy.
type Policy struct {
	conf  config.Plugin
	tally tally
}

// New returns the policy.
func New(conf config.Plugin) *Policy { return &Policy{conf: conf} }

// Name returns "accountlimits".
func (*Policy) Name() string { return "accountlimits" }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

// Open registers the rules.
func (p *Policy) Open(s *session.Session) {
	if !p.conf.Enabled("enableJobEnqueued") {
		return
	}
	limits := &s.Rules.GangLimits
	limitedBefore := p.tally.limited
	p.tally.update(s.Cluster, s.Now)
	renewedAt := time.Time{}
	if s.Out.BudgetUsage, renewedAt = p.tally.changedBudgets(s.Now); !renewedAt.IsZero() {
		s.WakeAt(renewedAt)
	}
	if !p.tally.limited {
		if limitedBefore { // the last limit was removed
			limits.Relaxed = append(limits.Relaxed, func(*framework.Job) bool { return true })
		}
		return
	}
	r := &rules{s: s, tally: &p.tally}
	limits.Admissible = append(limits.Admissible, r.checkAdmission)
	limits.Admits = append(limits.Admits, func(j *framework.Job) { p.tally.countAdmitted(j) })
	limits.Holdable = append(limits.Holdable, r.checkHolding)
	limits.Relaxed = append(limits.Relaxed, func(j *framework.Job) bool { return p.tally.isRelaxed(j.Gang) })
	limits.Forecasts = append(limits.Forecasts, func(bound []*framework.Job) framework.LimitForecast { return newForecast(s, &p.tally, bound) })
	s.Rules.Nodes = append(s.Rules.Nodes, framework.NodeRule{
		Name:    p.Name(),
		Applies: func(*framework.Job, *model.Task) bool { return false },
		Placed: func(j *framework.Job, t *model.Task, _ model.NodeID, sign int) {
			if !s.InForecast() { // its placements are undone
				p.tally.countPlaced(j.Gang, t, sign)
			}
		},
	})
}

// rules checks the limits during a cycle.
type rules struct {
	s     *session.Session
	tally *tally
}

// checkAdmission returns the first limit that the admission of a gang would exceed.
func (r *rules) checkAdmission(j *framework.Job) explain.Verdict {
	scopes := r.tally.scopesOf(memberOf(j.Gang))
	if len(scopes) == 0 {
		return explain.Verdict{}
	}
	own := r.tally.partOf(j.Gang)
	floor := minimumOf(j.Gang, j.MinResources, j.MinMember)
	for _, scope := range scopes {
		if v := scope.checkJobs(r.s.Cluster.Resources, own); v.Code != "" {
			return v
		}
		v := r.checkResources(scope, own, func(index int) (requested, claims, uses int64) {
			requested = floor.Get(index)
			return requested, requested - own.claimed.Get(index), 0
		})
		if v.Code == "" {
			v = r.checkAdmittedBudget(scope, own, floor)
		}
		if v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// checkHolding returns the first limit that a gang would exceed if it got a request in addition to what it holds.
func (r *rules) checkHolding(j *framework.Job, request resource.Request) explain.Verdict {
	scopes := r.tally.scopesOf(memberOf(j.Gang))
	if len(scopes) == 0 {
		return explain.Verdict{}
	}
	own := r.tally.partOf(j.Gang)
	for _, scope := range scopes {
		if v := scope.checkJobs(r.s.Cluster.Resources, own); v.Code != "" {
			return v
		}
		v := r.checkResources(scope, own, func(index int) (requested, claims, uses int64) {
			uses = request.Get(index)
			claims = own.claimsWith(index, own.held.Get(index)+uses) - own.claimed.Get(index)
			return max(uses, claims), claims, uses
		})
		if v.Code == "" {
			v = r.checkHeldBudget(scope, own, request)
		}
		if v.Code != "" {
			return v
		}
	}
	return explain.Verdict{}
}

// checkResources returns a verdict with the resources whose limits a scope would exceed. For a resource, more returns the
// requested amount, and the amounts by which the gang's claims and uses would grow. If some requests alone exceed a
// limit, the verdict lists only these.
func (r *rules) checkResources(scope *scope, own *part, more func(index int) (requested, claims, uses int64)) explain.Verdict {
	var exceeded, impossible []explain.Limit
	for _, most := range scope.maxResources {
		index, known := r.s.Cluster.Resources.Find(string(most.Name))
		if !known { // no pod requests it
			continue
		}
		requested, claims, uses := more(index)
		claimed, held := scope.claimed.Get(index), scope.held.Get(index)
		exceedsClaims := claims > 0 && claimed > most.Value-claims
		exceedsUse := uses > 0 && held > most.Value-uses
		if !exceedsClaims && !exceedsUse {
			continue
		}
		limit := explain.Limit{
			QOS: scope.qos, Account: scope.account, User: scope.user, Resource: string(most.Name), Asked: float64(requested),
			Held: float64(held), Promised: float64(max(claimed-held, 0)), Limit: float64(most.Value),
		}
		exceeded = append(exceeded, limit)
		if requested > most.Value {
			impossible = append(impossible, limit)
		}
	}
	if len(impossible) > 0 {
		exceeded = impossible
	}
	if len(exceeded) == 0 {
		return explain.Verdict{}
	}
	scope.recordRefusal(r.s.Cluster.Resources, own)
	return explain.Verdict{Code: scope.codes().resources, Limit: &exceeded[0], More: exceeded[1:]}
}

// checkJobs returns a verdict if a scope permits no more jobs and a gang does not count as a job yet.
func (s *scope) checkJobs(names *resource.Names, own *part) explain.Verdict {
	if s.maxJobs == nil || own.isJob() || s.jobs < int(*s.maxJobs) {
		return explain.Verdict{}
	}
	s.recordRefusal(names, own)
	return explain.Verdict{Code: s.codes().jobs, Limit: &explain.Limit{
		QOS: s.qos, Account: s.account, User: s.user, Asked: 1, Held: float64(s.jobs), Limit: float64(*s.maxJobs),
	}}
}
