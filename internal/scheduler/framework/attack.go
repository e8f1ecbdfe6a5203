package framework

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// AttackKind identifies the action that evicts.
type AttackKind string

// The kinds, with Volcano's names of the actions.
const (
	Preempt     AttackKind = "preempt"     // inside a queue
	Reclaim     AttackKind = "reclaim"     // between queues
	GangPreempt AttackKind = "gangpreempt" // inside a queue, gang by gang, with network topology
	GangReclaim AttackKind = "gangreclaim" // between queues, gang by gang, with network topology
	Shuffle     AttackKind = "shuffle"     // without a gang that needs the resources, to move running pods
)

// Attack is an attempt to make room for a gang by evicting others. Policies decide about it in two ways:
//
//   - A Guard protects pods. A rejection by one guard of any tier is final. (System pods, disruption budgets,
//     cooldowns, a queue's guarantee.)
//   - An Entitlement grants victims. All entitlements of one tier must grant. The first tier whose entitlements
//     grant enough victims decides; later tiers are used only if it does not suffice. Without any entitlement
//     nothing is evicted. (A higher priority, a lower dominant share, a queue over what it deserves.)
type Attack struct {
	Kind  AttackKind
	Taker *Job // nil for Shuffle
	// Tasks are the tasks of the taker that are to be placed, Asked is their total request.
	Tasks []*model.Task
	Asked model.Request
}

// Guard decides about victims. It is created for one attack and keeps count in it. It is called for single tasks
// before any task is counted out, and again when they are to be evicted: what it rejects first it would also reject
// later.
type Guard struct {
	// May reports whether tasks of one gang may be evicted together, in addition to the ones already counted out.
	// why describes for users what protects them; "" if Code is enough.
	May func(victims []*model.Task) (ok bool, why string)
	// Code is the reason code of its rejections; "" means ByPolicy.
	Code reason.Code
	// Gang is a quick check for all tasks of a gang while nothing is counted out: false rejects all. nil if there
	// is no such check.
	Gang func(g *model.Gang) bool
	// Static is true if the answers depend only on the victims and the taker's queue and priority, so that they are
	// the same for other gangs of that queue and priority.
	Static bool
	// Moves is true if an entitlement grants by an order of shares, which changes with the gangs' allocations.
	Moves bool
	// Because returns why an entitlement grants, for the messages to both gangs; nil for nothing to add.
	Because func(victims []*model.Task) string
	// Out is called when tasks are counted out (1) or spared again (-1); nil if not needed.
	Out func(victims []*model.Task, sign int)
}

// Entitlement grants victims, in a tier, to some kinds of attack.
type Entitlement struct {
	Tier int
	// For reports whether the entitlement applies to an attack.
	For   func(*Attack) bool
	Grant func(*Attack) Guard
}

// Guard registers a guard.
func (r *Rules) Guard(f func(*Attack) Guard) { r.Guards = append(r.Guards, f) }

// Entitle registers an entitlement for some kinds of attack.
func (r *Rules) Entitle(f func(*Attack) Guard, kinds ...AttackKind) {
	r.Entitlements = append(r.Entitlements, Entitlement{Tier: r.Tier, Grant: f, For: func(a *Attack) bool {
		return slices.Contains(kinds, a.Kind)
	}})
}

// Starve is a policy's rule on which jobs others may be evicted for.
type Starve struct {
	Tier   int
	Starve func(*Job) bool
}

// Starve registers a rule on which jobs others may be evicted for.
func (r *Rules) Starve(f func(*Job) bool) { r.Starving = append(r.Starving, Starve{r.Tier, f}) }

// Starves reports whether others may be evicted for a job: all rules of the first tier with such rules must agree.
// Without any rule, the job must be below its minimum.
func (r *Rules) Starves(j *Job) bool {
	if len(j.Pending) == 0 {
		return false
	}
	for i, s := range r.Starving {
		if s.Tier != r.Starving[0].Tier {
			break
		}
		if !r.Starving[i].Starve(j) {
			return false
		}
	}
	return len(r.Starving) > 0 || j.Starving()
}

// Mover selects tasks, in a tier, that should leave their nodes although no gang needs the resources.
type Mover struct {
	Tier int
	Name string
	// Victims returns the tasks, and the reason for the messages.
	Victims func() (tasks []*model.Task, why string)
	// Most returns how many tasks of a gang may be evicted at once, whatever its minimum; negative for its surplus,
	// or all of it.
	Most func(*model.Gang) int
}

// Shuffle registers a mover.
func (r *Rules) Shuffle(m Mover) {
	m.Tier = r.Tier
	r.Movers = append(r.Movers, m)
}

// Tiers returns the tiers that have an entitlement for an attack, in order.
func (r *Rules) Tiers(a *Attack) []int {
	var tiers []int
	for _, e := range r.Entitlements {
		if e.For(a) && !slices.Contains(tiers, e.Tier) {
			tiers = append(tiers, e.Tier)
		}
	}
	return tiers
}

// Granted returns the entitlements of a tier for an attack.
func (r *Rules) Granted(a *Attack, tier int) []Guard {
	var all []Guard
	for _, e := range r.Entitlements {
		if e.Tier == tier && e.For(a) {
			all = append(all, e.Grant(a))
		}
	}
	return all
}

// Protecting returns the guards for an attack.
func (r *Rules) Protecting(a *Attack) []Guard {
	all := make([]Guard, 0, len(r.Guards))
	for _, g := range r.Guards {
		if guard := g(a); guard.May != nil {
			all = append(all, guard)
		}
	}
	return all
}

// Guarding reports whether a policy guards against an attack: inside a queue if enablePreemptable is on, between
// queues if enableReclaimable is on, and against a shuffle if either is on.
func (a *Attack) Guarding(preemptable, reclaimable bool) bool {
	switch a.Kind {
	case Preempt, GangPreempt:
		return preemptable
	case Reclaim, GangReclaim:
		return reclaimable
	}
	return preemptable || reclaimable
}
