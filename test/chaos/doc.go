// Package chaos runs vcd as real processes on a real control plane, injects faults according to a plan drawn from a
// seed, and checks invariants.
//
//	In:   the programs' directory, a seed, a duration
//	Out:  violations, as failures of a test
//
// The plan (plan.go) is a pure function of its seed. It contains the faults and the actions of users, with their times.
// The interleaving of the processes depends on the machine, so the same seed repeats the plan but not every step of the
// run.
//
// Each of the two replicas of the scheduler, of the controllers and of admission reaches the API server through its own
// proxy (line.go). The proxy cuts, holds and delays connections, drops responses, and records which replica sent which
// write. The API server reaches admission through a proxy as well.
//
// # Invariants
//
// The rules (rules.go) are checked at each event of the API server's history, in order:
//
//   - pods on a node request no more than the node has, and pods of a queue or its descendants no more than its
//     capability; pods count until they have ended
//   - a pod never changes its node
//   - no gang stays partially bound for longer than it takes to replace a leader
//   - a job number is used once
//   - a replica that does not hold its component's lease writes nothing
//   - a process uses no more memory than its limit, and never panics
//
// After the faults, every job that can end ends in the phase that follows from its pods, and no objects of deleted jobs
// remain.
//
// # Concurrency
//
// Rules, Line and Replica are safe for use by many goroutines.
package chaos
