// Package jobid hands out the numbers of jobs: whole numbers from 1, cluster-wide, rising, never the same one twice.
//
//	In:   how many numbers are wanted
//	Out:  the first of as many in a row
//
// What is spoken for stands in one ConfigMap: the mark, below and at which all numbers are taken. A process that needs numbers raises the mark by a
// block, if nobody else has raised it since it was read, and then hands out the block from memory. So a number costs no write, no two processes ever
// hold the same number, whoever leads, and what a crash loses is the rest of a block: a gap.
//
// # Invariants
//
//   - A number is handed out only after the mark that covers it was written, by the process that wrote it, once.
//   - Numbers rise in the order of the calls of one process. Between processes the order is right but for a block that is younger than fresh.
//   - That numbers cannot be had delays nobody: after an error all callers are refused at once for a while. A job runs without a number, and
//     the controller gives it one later.
//
// # Concurrency
//
// An Allocator may be used by many goroutines.
package jobid
