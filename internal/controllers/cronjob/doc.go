// Package cronjob creates Jobs at the times of a schedule.
//
//	CronJob, its Jobs, the time ─▶ Compute ─▶ jobs to create and to delete, status, events, time of the next reconcile
//
// # Invariants
//
//   - A scheduled time never gets two jobs, because the name of the job is derived from the time, and the last
//     scheduled time is taken from both the status and the existing jobs. Therefore, a crash between the two writes
//     does no harm.
//   - Compute is pure. Reconciler carries out the plan and writes the status last.
package cronjob
