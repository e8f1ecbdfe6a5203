package keys

// On PodGroups: where pods are to be placed relative to each other.
const (
	// AllocatedHyperNode is the HyperNode that a gang is in; the scheduler writes it.
	AllocatedHyperNode = "volcano.sh/job-allocated-hypernode"
	// TaskTopologyAffinity and TaskTopologyAntiAffinity name tasks that want to be near each other or apart:
	// "ps,worker;chief". TaskTopologyOrder is the order in which tasks are placed: "ps,worker".
	TaskTopologyAffinity     = "volcano.sh/task-topology-affinity"
	TaskTopologyAntiAffinity = "volcano.sh/task-topology-anti-affinity"
	TaskTopologyOrder        = "volcano.sh/task-topology-task-order"
)

// TopologySource is the label on HyperNodes that the controllers found: from what (label, ufm). Others are left alone.
const TopologySource = "volcano.sh/network-topology-source"
