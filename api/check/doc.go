// Package check judges whole objects of our kinds as they cross the wire: it decodes one, fills in its defaults and
// asks the validation of its kind. Admission and the command line both go through it, so that they refuse the same
// objects with the same words.
//
//	In:   a kind, the object as JSON (two on an update), and what the cluster knows of it (Around)
//	Out:  a Verdict: what is wrong, each with its field, and what is allowed but hardly meant
//
// # Invariants
//
//   - Pure: the same object and the same surroundings give the same verdict, in the same order.
//   - An object that cannot be decoded is told field by field, as one that breaks a rule is.
//   - What the surroundings do not say (nil) is not judged.
//
// # Concurrency
//
// Functions may be called concurrently; a QueueLookup is used by the calling goroutine only.
package check
