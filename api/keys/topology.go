package keys

// Annotations of PodGroups about where pods are placed relative to each other.
const (
	// AllocatedHyperNode is the HyperNode in which a gang is placed. The scheduler writes it.
	AllocatedHyperNode = "volcano.sh/job-allocated-hypernode"
	// TaskTopologyAffinity and TaskTopologyAntiAffinity list groups of tasks whose pods should be placed close
	// together or apart, for example "ps,worker;chief". TaskTopologyOrder is the order in which tasks are placed, for
	// example "ps,worker".
	TaskTopologyAffinity     = "volcano.sh/task-topology-affinity"
	TaskTopologyAntiAffinity = "volcano.sh/task-topology-anti-affinity"
	TaskTopologyOrder        = "volcano.sh/task-topology-task-order"
)

// TopologySource is the label with the source, label or ufm, of a HyperNode created by the controllers. The
// controllers do not change other HyperNodes.
const TopologySource = "volcano.sh/network-topology-source"
