// Package hypernode discovers which nodes are close to each other in the network and maintains HyperNodes for them.
//
//	In:   the ConfigMap of the controllers (networkTopologyDiscovery), labels of nodes, the ports that a fabric manager (UFM) lists
//	Out:  HyperNodes with the label volcano.sh/network-topology-source, events on the ConfigMap
//
// The scheduler evaluates the content of HyperNodes (regular expressions, labels, nodeCount, and whether they fit
// together) and writes their status.
//
// # Invariants
//
//   - The plan is a pure function of the discovered domains and the existing HyperNodes. Names follow from the labels,
//     so a crash between two writes creates no duplicates.
//   - HyperNodes without the label of the source are never changed, nor are HyperNodes of a source that is invalid,
//     disabled or missing in the configuration: running gangs may depend on them.
//
// # Concurrency
//
// All watches enqueue the same request; there is one worker.
package hypernode
