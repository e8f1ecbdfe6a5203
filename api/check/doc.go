// Package check validates whole objects of the project's kinds: it decodes an object, fills in its defaults and runs
// the validation of its kind. Admission and the command line share it, so that both reject the same objects with the
// same messages.
//
//	In:   a kind, the object as JSON (two for an update), and its surroundings in the cluster (Around)
//	Out:  a Verdict: errors, each with its field, and warnings about settings that are probably not intended
//
// # Invariants
//
//   - All functions are pure: the same object and the same surroundings give the same verdict, in the same order.
//   - Decoding errors name their fields, like validation errors.
//   - Checks that need missing surroundings (nil) are skipped.
//
// # Concurrency
//
// Functions are safe for concurrent use; a QueueLookup is used only by the calling goroutine.
package check
