// Package jobsummary encodes the jobs, PodGroups and pods of the listing service, with only the fields that lists of jobs
// show.
//
//	In:   Jobs, PodGroups and Pods as in the API server
//	Out:  a stream of entries, and the decoded objects without the fields that no list shows
//
// A stream consists of one entry per job and an end message, each prefixed by its length. An entry is a message in
// protobuf's wire format, so that either side may have fields unknown to the other. The parts that many jobs have in
// common (specs without names and commands, statuses without times) are JSON inside the entry; the reader decodes equal
// parts only once. docs/adr/0014-lists-from-memory.md compares this format with simpler ones.
//
// # Invariants
//
//   - A truncated stream is an error, never a shorter list.
//   - Decoded objects share parts and must not be modified.
//
// # Concurrency
//
// Functions are pure. A Reader belongs to one goroutine.
package jobsummary
