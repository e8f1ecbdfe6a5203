// Package resourcegroup sends pods to parts of the cluster by the namespace they are made in or the annotations they
// carry: Volcano's file of resource groups, which gives such pods node labels, tolerations, an affinity and a
// scheduler.
//
//	In:   the file (--admission-conf), a pod
//	Out:  the pod as the first group that it belongs to wants it; the condition by which the API server picks the
//	      pods that a file can be about
//
// # Invariants
//
//   - Pure. A file is taken whole or refused whole, with all that is wrong in it and where.
//   - Changing a pod twice is changing it once.
//   - Every pod that a file changes satisfies its Condition: no other pod has to be sent to us.
//
// # Concurrency
//
// A Config is never changed once it is read.
package resourcegroup
