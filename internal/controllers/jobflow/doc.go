// Package jobflow creates the jobs of JobFlows as soon as the dependencies of each job are met.
//
//	JobFlow, its templates and jobs, probe results ─▶ Compute ─▶ jobs to create and delete, status, events, probes to run
//
// # Invariants
//
//   - A step that has ended does not run again, because its result remains in the status of the flow when its job no
//     longer exists.
//   - The phase of a flow is recomputed from its steps each time, so that it never becomes outdated.
//   - Compute is pure; the reconciler runs the probes.
package jobflow
