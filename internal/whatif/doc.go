// Package whatif simulates what would happen if jobs, PodGroups, pods and queues were submitted now. The job
// controller's own plan creates the pods of jobs, and the scheduler's own engine decides about them. This package only
// combines the two.
//
//	In:   Question: a Plan and the objects that admission checks against; the engine and the model
//	Out:  insight.PlanStatus
//
// It works in two steps. Prepare does what needs no model: it validates the objects with the rules of admission and
// creates the PodGroups, pods and claims that the job controller would create. Thought.RunAllSlices adds them to the
// model, runs a cycle, and removes them again.
//
// # Invariants
//
//   - Pure: nothing is written, and the model is restored afterwards.
//   - An object that would be rejected does not affect objects that do not name it.
//
// # Concurrency
//
// Prepare may run in any goroutine. Thought.RunAllSlices belongs to the goroutine of the model, or of the copy of it
// that the planner simulates on.
package whatif
