// Package extract computes the accounting records of a job, and the changes of nodes, from API objects.
//
//	In:   a Job and its pods; the nodes and their last recorded changes
//	Out:  Records, the records of the current attempt; Document, the objects in the form in which they are stored;
//	      NodeChanges, the changes of the nodes
//
// # Invariants
//
//   - Pure: the results depend only on the arguments.
//   - An attempt has records only when it is over, and from then on always the same keys and end times.
//   - The records of an ended job agree with what sacct prints for it, because both come from package listrow.
package extract
