// Package jobactions provides the keys for actions on jobs: suspend, resume, requeue, hold, release, cancel, delete. Jobs,
// Job detail, Explain and Overview share them.
//
//	In:   the target jobs
//	Out:  screen.Ask with the effects and the number of jobs, then screen.Run
//
// The package itself carries out no action, and no action happens without a confirmation.
package jobactions
