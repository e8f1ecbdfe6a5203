// Package framework defines the types that policies and the scheduling cycle share: the gangs in a cycle, and the
// rules that policies register for them.
//
//   - Job is a gang during a cycle: its pending tasks, its placements so far, and the reason why it is waiting. Group
//     is one of its sub-groups, and Surplus counts the tasks that it can lose.
//   - Rules holds what policies registered: orders, checks, votes on admission, node rules, guards and entitlements.
//   - Attack is an attempt to evict pods for a gang. A Guard protects pods from it, and an Entitlement permits
//     victims.
//
// Package session applies the rules in a cycle. Package plugin makes the types available to other modules.
//
// # Invariants
//
//   - Rules are functions of their arguments and of the policy's state for the cycle. They have no side effects beyond
//     that state.
//   - A policy that registers no rule has no effect.
package framework
