// Package facts is what of jobs, their PodGroups and their pods crosses the wire of the listing service: as much as a list of jobs tells, and no more.
//
//	In:   Jobs, PodGroups and Pods as the API server has them
//	Out:  a stream of entries, and the same objects out of it again, without what no list tells
//
// A stream is an entry for each job and an end, each with its length in front. An entry is a message of protobuf's wire format, so that either
// side may know fields that the other does not. What many jobs have in common (their specs without names and commands, their statuses without times) is
// JSON in it, which the reader decodes once for all that have the same.
//
// # Invariants
//
//   - A stream that was cut off is an error: never a shorter list.
//   - Objects that were read share parts; they are for reading.
//
// # Concurrency
//
// Functions are pure. A Reader belongs to one goroutine.
package facts
