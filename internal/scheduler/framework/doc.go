// Package framework defines the types that policies and the scheduling cycle share: the gangs in a cycle, and the
// rules that policies register for them.
//
//   - Job is a gang during a cycle: its pending tasks, its placements so far, and its reason to wait. Group is one of
//     its sub-groups, Surplus what it can lose.
//   - Rules holds what policies registered: orders, checks, votes on admission, node rules, guards and entitlements.
//   - Attack is an attempt to evict pods for a gang. A Guard protects pods from it, an Entitlement grants victims.
//
// Package session applies the rules in a cycle. Package plugin gives the types to other modules.
//
// # Invariants
//
//   - Rules are functions of their arguments and of the policy's state of the cycle. They have no side effects beyond
//     that state.
//   - A policy that registers no rule has no effect.
package framework
