// Package evict chooses the victims that must be evicted so that a gang can start. It chooses as few as possible, and
// none if the gang could not start anyway.
//
//	In:   a starving gang, the session, the guards and entitlements that policies registered
//	Out:  evictions and the gang's promised resources, or why no pod is evicted
//
// # Invariants
//
//   - Nothing is evicted unless the whole gang then fits. If the gang already has its minimum, its next task must fit.
//   - If any single victim, a surplus pod or a whole gang, were spared, the gang would no longer fit.
//   - A victim gang loses either pods beyond its minimum or all its pods.
//   - A rejection by a guard of any tier is final. Entitlements of different tiers are never combined.
//   - A tier refuses an eviction if an earlier tier, or the other action for the same queues (preempt and gangpreempt,
//     reclaim and gangreclaim), would afterwards grant the reverse eviction. Each entitlement orders gangs or queues.
//     Therefore, resources that one gang took from another are never taken back unless something else changes. If a
//     tier that compares shares precedes a tier that compares priorities, evictions do not cycle among three gangs
//     either: a gang that lost resources because of its share cannot take any through a later tier (model.ShareLoss).
//
// # Preferences
//
// Evicting surplus pods is preferred to evicting whole gangs, because no gang then falls below its minimum. Among
// whole gangs, the search prefers lower priority, then fewer gangs, then fewer pods, then less lost work.
package evict
