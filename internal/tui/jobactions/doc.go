// Package jobactions provides the keys for actions on jobs (suspend, resume, requeue, hold, release, cancel and
// delete), which Jobs, Job detail, Explain and Overview share.
//
//	In:   the target jobs
//	Out:  screen.Ask with the effects and the number of jobs, then screen.Run
//
// The package does not carry out actions itself, and no action happens without a confirmation.
package jobactions
