// Package network gives pods addresses: one bridge a cluster, one veth pair a pod, and a hosts file in place of a cluster DNS.
//
//	In:   a name for the cluster, network namespaces
//	Out:  an address for each; the text of each pod's hosts file
//
// # Invariants
//
//   - Bridge name and subnet follow from the cluster's name, so that two clusters on one machine do not meet; a subnet that the
//     machine already routes elsewhere is passed over.
//   - Nothing is written down: addresses live as long as the process that gave them, as the pods do, and the kernel removes a
//     veth pair with its namespace. Only the bridge stays; Remove takes it away.
//   - Pods reach each other and the machine at the bridge's address, nothing else; a pod that needs more asks for hostNetwork.
//   - An address is given again only after all others were.
package network
