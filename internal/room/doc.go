// Package room says what a node has, what of it nobody has asked for, and how the node
// is. The command line and the dashboard show the same numbers because both ask here.
//
//	In:   Nodes, and the pods on them
//	Out:  Room, Amounts; the state in kubectl's words
//
// Idle is what a node has minus what the pods on it ask for, as the scheduler counts it.
// It is not what they use.
//
// # Invariants
//
//   - Pure: the same nodes and pods give the same rooms.
//   - A pod that has ended holds nothing. What pods ask for that the node has none of is not counted.
package room
