// Package feed turns events from the API server into deltas of the model. It holds all watches of the scheduler.
//
//	In:   list and watch of pods, nodes, PodGroups, Queues, PriorityClasses, Numatopologies, HyperNodes
//	Out:  []model.Delta in order of arrival, drained by one goroutine
//
// # Invariants
//
//   - The feed keeps only names and UIDs. It converts an object on arrival and then drops it. Core types are
//     transferred as protobuf.
//   - Deltas of one kind keep the order of the watch. After a new list, objects that are missing from the list are
//     reported as deleted. A name with a new UID is reported as deleted before it is reported again.
//   - Synced is closed only after the complete first list of every kind has been queued. From then on, the drained
//     deltas describe the complete state of the API server.
//
// # Concurrency
//
// Reflectors write, and one goroutine drains. Any goroutine may call Put.
package feed
