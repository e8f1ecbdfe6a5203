package session

import (
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

// Guard judges victims. It is made for one attack and keeps count in it.
type Guard struct {
	// May says whether tasks of one gang may go together, on top of those that are
	// out already. why is for people: who protects them.
	May func(victims []*model.Task) (ok bool, why string)
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
		for _, kind := range kinds {
			if a.Kind == kind {
				return true
			}
		}
		return false
	}})
}
