// Package jobflow creates the jobs of JobFlows, each as soon as its dependencies are met.
//
//	JobFlow, its templates and jobs, probe results ─▶ Compute ─▶ jobs to create and delete, status, events, probes to run
//
// # Invariants
//
//   - A step that has ended does not run again: its result stays in the status of the flow after its job is gone.
//   - The phase of a flow is recomputed from its steps each time, so no flow stays in an outdated phase.
//   - Compute is pure; the reconciler runs the probes.
package jobflow
