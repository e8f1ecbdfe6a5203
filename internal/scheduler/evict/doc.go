// Package evict chooses whom to evict so that a gang can start: as few as do it,
// and nobody unless it does.
//
//	In:   a starving gang, the session, the guards and entitlements that policies registered
//	Out:  evictions and the gang's promised room, or why nobody is evicted
//
// # Invariants
//
//   - Nothing is evicted unless the whole gang then fits (or, of a gang that has its minimum, its next task).
//   - No unit of the victims can be put back with the gang still fitting.
//   - A victim gang loses its surplus over its minimum, or all of itself.
//   - A guard of any tier that says no is a no. Entitlements of one tier are never mixed with those of another.
//   - A tier does not grant what an earlier tier would grant the other way round once the taker has what it wants, nor
//     what the other action of its side would; and each entitlement is an order. So what one gang took from another
//     is never taken back without a change from outside. Nor do three gangs go round where a tier of shares comes before
//     one of priorities: who gave by shares takes nothing by a later tier (model.Gave).
//
// # What is preferred
//
// Surplus before whole gangs: then no gang is broken. Of whole gangs those of lower priority, then as few as
// possible, then few pods, then little lost work.
package evict
