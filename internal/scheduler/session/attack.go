package session

import (
	"slices"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
)

// AttackKind is which action evicts.
type AttackKind string

// The kinds, by Volcano's names of the actions.
const (
	Preempt     AttackKind = "preempt"     // inside a queue
	Reclaim     AttackKind = "reclaim"     // between queues
	GangPreempt AttackKind = "gangpreempt" // inside a queue, gang by gang, with topology
	GangReclaim AttackKind = "gangreclaim" // between queues, gang by gang, with topology
	Shuffle     AttackKind = "shuffle"     // for nobody: to move what runs
)

// Attack is a try to make room for a gang by evicting others. Policies judge it
// in two ways:
//
//   - A Guard protects: one guard of any tier that says no is a no, always. (pods of the system, budgets for
//     disruption, cooldowns, a queue's guarantee.)
//   - An Entitlement grants: those of one tier must all grant. The first tier whose entitlements let enough go
//     decides; later tiers are only asked when it does not suffice. Without any entitlement nothing is evicted.
//     (a higher priority, a lower dominant share, a queue over what it deserves.)
type Attack struct {
	Kind  AttackKind
	Taker *Job // nil for Shuffle
	// Tasks of the taker that are to be placed, and what they ask for together.
	Tasks []*model.Task
	Asked model.Request
}

// Guard judges victims. It is made for one attack and keeps count in it. It is
// asked about single tasks before anybody is out, and again when they are to go:
// what it refuses first it would refuse later.
type Guard struct {
	// May says whether tasks of one gang may go together, on top of those that are
	// out already. why is for people: who protects them, "" where Code says it all.
	May func(victims []*model.Task) (ok bool, why string)
	// Code is what its refusals are called; "" is ByPolicy.
	Code reason.Code
	// Gang is a quick no for all tasks of a gang, with nobody out; nil: there is none.
	Gang func(g *model.Gang) bool
	// Static: the answers follow from the victims and the taker's queue and priority alone, so that
	// others of that queue and priority get the same.
	Static bool
	// Moves: the order by which an entitlement grants is one of shares, so that it moves with what gangs hold.
	Moves bool
	// Because says why an entitlement grants, to both sides; nil: nothing to add.
	Because func(victims []*model.Task) string
	// Out follows what is counted out (1) or spared again (-1); nil: nothing to count.
	Out func(victims []*model.Task, sign int)
}

// Entitlement grants victims, in a tier, to the kinds of attack that it knows.
type Entitlement struct {
	Tier int
	// For says whether it has a say in an attack; else it does not count.
	For   func(*Attack) bool
	Grant func(*Attack) Guard
}

// Guard registers a protection.
func (r *Rules) Guard(f func(*Attack) Guard) { r.Guards = append(r.Guards, f) }

// Entitle registers an entitlement for some kinds of attack.
func (r *Rules) Entitle(f func(*Attack) Guard, kinds ...AttackKind) {
	r.Entitlements = append(r.Entitlements, Entitlement{Tier: r.Tier, Grant: f, For: func(a *Attack) bool {
		return slices.Contains(kinds, a.Kind)
	}})
}

// Starve is a policy's say about which jobs others may be evicted for.
type Starve struct {
	Tier   int
	Starve func(*Job) bool
}

// Starve registers it.
func (r *Rules) Starve(f func(*Job) bool) { r.Starving = append(r.Starving, Starve{r.Tier, f}) }

// Starves says whether others may be evicted for a job: all of the first tier
// that has a say must agree. Without any it is one below its minimum.
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

// Mover names tasks that should leave their nodes for nobody's sake, in a tier.
type Mover struct {
	Tier int
	Name string
	// Victims lists them, with the reason in words that both sides are told.
	Victims func() (tasks []*model.Task, why string)
	// Most is how many tasks of a gang may go at once, whatever its minimum; negative: its surplus, or all of it.
	Most func(*model.Gang) int
}

// Shuffle registers it.
func (r *Rules) Shuffle(m Mover) {
	m.Tier = r.Tier
	r.Movers = append(r.Movers, m)
}

// Tiers are the tiers that have an entitlement for an attack, in order.
func (r *Rules) Tiers(a *Attack) []int {
	var tiers []int
	for _, e := range r.Entitlements {
		if e.For(a) && !slices.Contains(tiers, e.Tier) {
			tiers = append(tiers, e.Tier)
		}
	}
	return tiers
}

// Granted makes the entitlements of a tier for an attack.
func (r *Rules) Granted(a *Attack, tier int) []Guard {
	var all []Guard
	for _, e := range r.Entitlements {
		if e.Tier == tier && e.For(a) {
			all = append(all, e.Grant(a))
		}
	}
	return all
}

// Protecting makes the guards for an attack.
func (r *Rules) Protecting(a *Attack) []Guard {
	all := make([]Guard, 0, len(r.Guards))
	for _, g := range r.Guards {
		if guard := g(a); guard.May != nil {
			all = append(all, guard)
		}
	}
	return all
}
