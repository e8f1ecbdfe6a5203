// Package evict chooses victims so that a gang can start: as few as possible, and none unless the gang can start.
//
//	In:   a starving gang, the session, the guards and entitlements that policies registered
//	Out:  evictions and the gang's promised resources, or why no pod is evicted
//
// # Invariants
//
//   - Nothing is evicted unless the whole gang then fits. For a gang that has its minimum, its next task must fit.
//   - No unit of the victims can be spared with the gang still fitting.
//   - A victim gang loses its surplus over its minimum, or all its pods.
//   - A rejection by a guard of any tier is final. Entitlements of different tiers are never combined.
//   - A tier does not grant an eviction if an earlier tier, or the other action for the same kind of queues, would
//     then grant the reverse eviction. Each entitlement is an order. Therefore, what one gang took from another is
//     never taken back without an outside change. If a tier of shares precedes a tier of priorities, evictions do
//     not cycle among three gangs either: a gang that gave by shares takes nothing by a later tier (model.Gave).
//
// # Preferences
//
// Surplus is preferred to whole gangs, because no gang falls below its minimum. Among whole gangs, lower priority
// comes first, then as few gangs as possible, then few pods, then little lost work.
package evict
