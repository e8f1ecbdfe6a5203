// Package act is what people do to a cluster: to jobs, queues and nodes. The
// command line and the dashboard do it by the same code.
//
//	In:   a client, and what is to be done to what
//	Out:  writes; a sentence that says what was done, or an error that says why not
//
// # Invariants
//
//   - Whether something can be done at all is judged by pure functions (Verb.Judge, SwitchRefused), before anything is sent.
//   - A job, once seen, is what is acted on: its UID goes along, so that a namesake made since then is left alone.
//   - Nothing is tried twice here; what half succeeded is told with both halves.
//
// # Concurrency
//
// A Cluster may be used by many goroutines.
package act
