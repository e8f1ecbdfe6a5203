// Package hypernode finds out which nodes are near each other and keeps the HyperNodes that say so.
//
//	In:   the ConfigMap of the controllers (networkTopologyDiscovery), labels of nodes, the ports that a fabric manager (UFM) lists
//	Out:  HyperNodes with the label volcano.sh/network-topology-source, events on the ConfigMap
//
// What HyperNodes hold (regular expressions, labels, nodeCount, whether they fit together) is the scheduler's to judge: it writes their status.
//
// # Invariants
//
//   - The plan is a pure function of the domains that were found and the HyperNodes that are there. Names are made of what is in the labels: a
//     crash between two writes makes nothing twice.
//   - HyperNodes without our source label are never touched, nor those of a source that is faulty, disabled or gone from the configuration: gangs
//     may be held together by them.
//
// # Concurrency
//
// One request, whatever woke it; one worker.
package hypernode
