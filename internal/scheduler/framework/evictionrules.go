package framework

import (
	"slices"
)

// Guard registers a guard.
func (r *Rules) Guard(f func(*Attack) Guard) { r.Guards = append(r.Guards, f) }

// Entitle registers an entitlement for the specified kinds of attacks.
func (r *Rules) Entitle(f func(*Attack) Guard, kinds ...AttackKind) {
	r.Entitlements = append(r.Entitlements, Entitlement{Tier: r.Tier, Grant: f, For: func(a *Attack) bool {
		return slices.Contains(kinds, a.Kind)
	}})
}

// Starve registers a rule that determines for which jobs other pods may be evicted.
func (r *Rules) Starve(f func(*Job) bool) { r.Starving = append(r.Starving, Starve{r.Tier, f}) }

// MayEvictFor reports whether pods may be evicted for a job. If policies have registered rules for this, all rules of
// the first tier with such rules must agree. Otherwise, the job must be below its minimum.
func (r *Rules) MayEvictFor(j *Job) bool {
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
	return len(r.Starving) > 0 || j.IsStarving()
}

// Shuffle registers a mover.
func (r *Rules) Shuffle(m Mover) {
	m.Tier = r.Tier
	r.Movers = append(r.Movers, m)
}

// EntitlementTiers returns the tiers that have an entitlement for an attack, in ascending order.
func (r *Rules) EntitlementTiers(a *Attack) []int {
	var tiers []int
	for _, e := range r.Entitlements {
		if e.For(a) && !slices.Contains(tiers, e.Tier) {
			tiers = append(tiers, e.Tier)
		}
	}
	return tiers
}

// GrantsOfTier returns the entitlements of a tier that apply to an attack.
func (r *Rules) GrantsOfTier(a *Attack, tier int) []Guard {
	var all []Guard
	for _, e := range r.Entitlements {
		if e.Tier == tier && e.For(a) {
			all = append(all, e.Grant(a))
		}
	}
	return all
}

// GuardsAgainst returns the guards that apply to an attack.
func (r *Rules) GuardsAgainst(a *Attack) []Guard {
	all := make([]Guard, 0, len(r.Guards))
	for _, g := range r.Guards {
		if guard := g(a); guard.May != nil {
			all = append(all, guard)
		}
	}
	return all
}
