// Package environ computes the environment and the arguments of a container's process, and the values of the downward
// API for pods and containers.
//
//	In:   a pod, one of its containers, Facts about the node, lookups of ConfigMaps and Secrets
//	Out:  KEY=value lines in order; arguments with $(KEY) replaced
//
// # Invariants
//
//   - All functions are pure except for the lookups, so the same lookup results give the same environment.
//   - A later definition of a key takes precedence. $(KEY) refers to earlier definitions, then to the services.
//     $$(KEY) becomes $(KEY).
package environ
