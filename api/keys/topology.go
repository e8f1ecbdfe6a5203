package keys

// Annotations of PodGroups about the placement of pods relative to each other.
const (
	// AllocatedHyperNode is the HyperNode in which a gang is placed; the scheduler writes it.
	AllocatedHyperNode = "volcano.sh/job-allocated-hypernode"
	// TaskTopologyAffinity and TaskTopologyAntiAffinity list tasks whose pods should be close to each other or apart:
	// "ps,worker;chief". TaskTopologyOrder is the order in which tasks are placed: "ps,worker".
	TaskTopologyAffinity     = "volcano.sh/task-topology-affinity"
	TaskTopologyAntiAffinity = "volcano.sh/task-topology-anti-affinity"
	TaskTopologyOrder        = "volcano.sh/task-topology-task-order"
)

// TopologySource is the label of HyperNodes created by the controllers, with their source (label, ufm). The controllers
// do not change other HyperNodes.
const TopologySource = "volcano.sh/network-topology-source"
