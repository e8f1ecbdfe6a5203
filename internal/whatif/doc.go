// Package whatif simulates what would happen if jobs, PodGroups, pods and queues were submitted now. The job
// controller's own plan creates the pods of jobs, and the scheduler's own engine decides about them. This package only
// combines the two.
//
//	In:   Question: a Plan and the objects that admission checks against; the engine and the model
//	Out:  insight.PlanStatus
//
// It works in two steps. PrepareSimulation does everything that needs no model: it validates the objects with the rules
// of admission and creates the PodGroups, pods and claims that the job controller would create. Simulation.RunAllSlices
// adds them to the model, runs cycles, and removes them again.
//
// # Invariants
//
//   - Simulations are pure: they write nothing, and they restore the model afterwards.
//   - An object that would be rejected does not affect objects that do not name it.
//
// # Concurrency
//
// PrepareSimulation may run in any goroutine. Simulation.RunAllSlices belongs to the goroutine that owns the model, or
// the copy of the model on which the planner simulates.
package whatif
