// Package hypernode discovers which nodes are close to each other in the network and maintains HyperNodes for them.
//
//	In:   the controllers' ConfigMap (networkTopologyDiscovery), node labels, the ports listed by a fabric manager (UFM)
//	Out:  HyperNodes with the label volcano.sh/network-topology-source, events on the ConfigMap
//
// The scheduler evaluates the contents of HyperNodes (regular expressions, labels, nodeCount, and whether the
// HyperNodes are consistent) and writes their status.
//
// # Invariants
//
//   - The plan is a pure function of the discovered domains and the existing HyperNodes. Names are derived from the
//     labels, so a crash between two writes creates no duplicates.
//   - HyperNodes without the label of the source are never changed, nor are HyperNodes of a source that is invalid,
//     disabled or missing in the configuration, because running gangs may depend on them.
//
// # Concurrency
//
// All watches enqueue the same request, and there is a single worker.
package hypernode
