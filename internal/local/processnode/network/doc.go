// Package network gives pods addresses: one bridge per cluster, one veth pair per pod, and a hosts file in place of
// cluster DNS.
//
//	In:   a name for the cluster, network namespaces
//	Out:  an address for each; the text of each pod's hosts file
//
// # Invariants
//
//   - The bridge's name and subnet depend on the cluster's name, so that two clusters on one machine do not collide. A
//     subnet that the machine already routes elsewhere is skipped.
//   - Nothing is stored: addresses live as long as the process that allocated them, like the pods, and the kernel
//     removes a veth pair with its namespace. Only the bridge stays until Remove.
//   - Pods reach each other, and the machine at the bridge's address, but nothing else. A pod that needs more uses
//     hostNetwork.
//   - An address is reused only after all others have been allocated.
package network
