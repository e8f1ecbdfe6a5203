// Package feed converts events from the API server to deltas of the model. It contains all watches of the scheduler.
//
//	In:   list and watch of pods, nodes, PodGroups, Queues, PriorityClasses, Numatopologies, HyperNodes, Accounts
//	Out:  []model.Delta in order of arrival, drained by one goroutine; how far the watches are behind (ObserveLag, LastEvents)
//
// # Invariants
//
//   - The feed keeps only names and UIDs. It converts each object on arrival and then drops it. Core types are
//     transferred as protobuf.
//   - Deltas of one kind keep the order of the watch. After a new list, objects that are missing from the list are
//     reported as deleted. If a name has a new UID, the old object is reported as deleted before the new one is
//     reported.
//   - Synced is closed only after the complete first list of every kind has been queued. From then on, the drained
//     deltas describe the complete state of the API server.
//
// # Concurrency
//
// Reflectors write, and a single goroutine drains. Any goroutine may call Put.
package feed
