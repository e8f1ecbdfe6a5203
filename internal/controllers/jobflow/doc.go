// Package jobflow makes the jobs of JobFlows, each when what it waits for holds.
//
//	JobFlow, its templates, its jobs, what probes found ─▶ Compute ─▶ jobs to make and to delete, status, events, probes to ask for
//
// # Invariants
//
//   - A step that has ended does not run again: how it ended stays in the flow's status when its job is gone.
//   - The phase of a flow follows from how its steps stand, each time anew; so no flow is stuck in a phase that is over.
//   - Compute is pure; probes are asked outside of it.
package jobflow
