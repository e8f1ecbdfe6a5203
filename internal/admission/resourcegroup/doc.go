// Package resourcegroup assigns pods to parts of the cluster by their namespace or annotations. It implements Volcano's
// file of resource groups, which adds node labels, tolerations, an affinity and a scheduler to such pods.
//
//	In:   the file (--admission-conf), a pod
//	Out:  the pod, changed according to its first matching group; the CEL condition with which the API server selects
//	      the pods that the file may change
//
// # Invariants
//
//   - All functions are pure. A file is accepted or rejected as a whole, and the error lists all problems and their
//     fields.
//   - Applying a file twice has the same result as applying it once.
//   - Every pod that a file changes matches its Condition, so no other pod has to be sent to the webhook.
//
// # Concurrency
//
// A Config never changes after it was parsed.
package resourcegroup
