// Package account says what can be told about one job: what it asks for, how far it is, and why it does not run. The command line and the
// dashboard say it in the same words, because they have them from here.
//
//	In:   a Job, and as far as they may be read its PodGroup, pods and events
//	Out:  numbers (Phase, Bound, GPUs), the reason (Why), the lines of `vcctl job explain` (Account)
//
// # Invariants
//
//   - Pure: what is told follows from the objects and the time that is handed in.
//   - The scheduler's own explanation comes first, then what holds pods that have their nodes, then conditions, then what the controller said.
package account
