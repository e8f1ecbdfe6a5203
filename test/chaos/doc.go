// Package chaos runs vcd as real processes on a real control plane, disturbs them by a plan that a seed draws, and checks what must always hold.
//
//	In:   the programs' directory, a seed, a duration
//	Out:  violations, as failures of a test
//
// The plan (plan.go) is a pure function of its seed: which faults happen when, and what users do meanwhile. How the processes interleave is the
// machine's choice, so the same seed repeats the plan and not each step of the run.
//
// Two replicas of the scheduler, of the controllers and of admission reach the API server through a proxy each (line.go), which cuts, holds and delays
// connections, loses answers, and knows which replica wrote what. The API server reaches admission through a proxy as well.
//
// # Invariants
//
// Rules (rules.go) are judged at each event of the API server's own history, in its order:
//
//   - no node gives more than it has, no queue or ancestor more than its capability; pods count until they have ended
//   - a pod never changes its node
//   - no gang is bound in part for longer than a leader needs to be replaced
//   - a job number is given once
//   - a replica that does not hold its component's lease writes nothing
//   - a process needs no more memory than its limit, and never panics
//
// When the faults are over, every job that can end ends as its pods do, and nothing is left of jobs that are deleted.
//
// # Concurrency
//
// Rules, Line and Replica are safe for use by many goroutines.
package chaos
