// Package environ computes what a container's process is told: its environment, its arguments, and the values that the downward
// API takes from pod and container.
//
//	In:   a pod, one of its containers, Facts that the node knows, lookups of ConfigMaps and Secrets
//	Out:  KEY=value lines in order; arguments with $(KEY) replaced
//
// # Invariants
//
//   - Pure but for the lookups: the same answers of theirs give the same environment.
//   - A later definition of a key wins; $(KEY) sees what is defined before it, then the services; $$(KEY) stays $(KEY).
package environ
