// Package jobid allocates the numbers of jobs: integers from 1, increasing and unique in the cluster.
//
//	In:   how many numbers are needed
//	Out:  the first of as many consecutive numbers
//
// A ConfigMap stores the mark. All numbers up to the mark are reserved. A process that needs numbers raises the mark by
// a block, provided that no other process has raised it since it was read, and then assigns numbers in the block from
// memory. Therefore, most numbers cost no write, and two processes never hold the same number, even without leader
// election. A crash loses only the rest of a block, which leaves a gap.
//
// # Invariants
//
//   - A number is assigned only once, and only by the process that raised the mark above it.
//   - Numbers increase in the order of the calls in one process. Across processes, the order is correct except within
//     blocks that are younger than fresh.
//   - A lack of numbers does not delay jobs, because all calls fail immediately for a while after an error. A job then
//     runs without a number, and the controller assigns one later.
//
// # Concurrency
//
// An Allocator is safe for concurrent use.
package jobid
