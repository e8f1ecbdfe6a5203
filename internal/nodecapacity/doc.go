// Package nodecapacity computes the allocatable and the idle resources of nodes, and the nodes' states. The command line and
// the dashboard both use it, so they show the same numbers.
//
//	In:   Nodes, and the pods on them
//	Out:  Room (a node's resources), Amounts; the state in kubectl's words
//
// Idle is a node's allocatable amount minus the requests of its pods, as the scheduler counts it. It does not depend on
// actual usage.
//
// # Invariants
//
//   - Pure: the same nodes and pods give the same rooms.
//   - A pod that has ended counts as zero. Requests for a device that the node does not have are not counted.
package nodecapacity
