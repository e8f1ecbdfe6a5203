// Package cronjob makes Jobs at the times of a schedule.
//
//	CronJob, its Jobs, the time ─▶ Compute ─▶ jobs to make and to delete, status, events, when to look again
//
// # Invariants
//
//   - One job for a time: its name follows from the time, and what was made last is known from status and from the jobs alike, so a crash between
//     the two makes none twice.
//   - Compute is pure; Reconciler carries out what it says, the status last.
package cronjob
