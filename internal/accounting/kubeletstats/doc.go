// Package kubeletstats measures what the pods of jobs use on kubelets, at intervals, and writes it to their annotations.
//
//	In:   the nodes with running pods of a podmeasure.Tracker; the stats summaries of their kubelets; tokens of the
//	      service account AccountName
//	Out:  samples in the Tracker; the annotation of package podusage; metrics
//
// # Invariants
//
//   - Kubelets receive only the tokens of AccountName, and no other credentials.
//   - At most parallelRequests requests are sent at the same time. A kubelet that fails receives fewer requests.
//   - The number of writes in a period does not depend on the number of pods.
//
// # Concurrency
//
// A Sampler runs once. Its requests run in parallel.
package kubeletstats
