// Package network gives pods network addresses. It creates one bridge per cluster and one veth pair per pod, and
// provides hosts files in place of cluster DNS.
//
//	In:   a name for the cluster, network namespaces
//	Out:  an address for each; the text of each pod's hosts file
//
// # Invariants
//
//   - The bridge's name and subnet depend on the cluster's name, so that two clusters on one machine do not
//     collide. Subnets that the machine already routes elsewhere are skipped.
//   - Nothing is stored. Like the pods, addresses exist as long as the process that allocated them, and the kernel
//     removes a veth pair together with its namespace. Only the bridge remains until RemoveBridge is called.
//   - Pods can reach each other, and the machine at the bridge's address, but nothing else. A pod that needs more
//     can use hostNetwork.
//   - An address is reused only after all others have been allocated.
package network
