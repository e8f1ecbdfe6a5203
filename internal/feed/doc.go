// Package feed turns what the API server tells into deltas of the model. It
// holds the only watches of the scheduler.
//
//	In:   list and watch of pods, nodes, PodGroups, Queues, PriorityClasses, Numatopologies, HyperNodes
//	Out:  []model.Delta in the order they arrived, drained by one goroutine
//
// # Invariants
//
//   - Nothing is kept but names and UIDs: an object is converted as it arrives
//     and forgotten. Core types travel as protobuf.
//   - Deltas of one kind keep the order of the watch. After a new list, what the
//     list lacks is reported gone; a name with another UID is reported gone
//     before it is reported again.
//   - Synced is closed only after the first list of every kind has been queued
//     whole: what is drained after that is the API's truth, nothing less.
//
// # Concurrency
//
// Reflectors write and one goroutine drains; Put may be called by any.
package feed
