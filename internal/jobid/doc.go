// Package jobid allocates the numbers of jobs: integers from 1, increasing and unique in the cluster.
//
//	In:   how many numbers are needed
//	Out:  the first of as many consecutive numbers
//
// A ConfigMap stores the mark: all numbers up to the mark are reserved. A process that needs numbers raises the mark by
// a block, if no other process has raised it since it was read, and then hands out numbers of the block from memory. So
// a number costs no write, two processes never hold the same number, independent of leader election, and a crash loses
// only the rest of a block, which leaves a gap.
//
// # Invariants
//
//   - A number is handed out only once, and only by the process that raised the mark above it.
//   - Numbers increase in the order of the calls in one process. Between processes the order is correct except within
//     blocks that are younger than fresh.
//   - Missing numbers delay no job: after an error, all calls fail immediately for a while. A job then runs without a
//     number, and the controller assigns one later.
//
// # Concurrency
//
// An Allocator is safe for concurrent use.
package jobid
