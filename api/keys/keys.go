// Package keys defines the labels and annotations that the components use on objects.
//
// Keys with the prefixes volcano.sh/, scheduling.volcano.sh/ and scheduling.k8s.io/ are Volcano's. The keys of this
// project have the prefix vc-batch.dev/.
package keys

// Keys on pods.
const (
	// GroupName is the annotation with the name of a pod's PodGroup.
	GroupName = "scheduling.k8s.io/group-name"
	// VolcanoGroupName is an alternative spelling. It counts if GroupName is missing.
	VolcanoGroupName = "scheduling.volcano.sh/group-name"
	// PodQueueName is the annotation with the queue of a plain pod, on the pod, its owner or its namespace.
	PodQueueName = "scheduling.volcano.sh/queue-name"
	// GroupMinMember is the annotation of a workload with the minMember of the PodGroup created for its pods.
	GroupMinMember = "scheduling.volcano.sh/group-min-member"

	JobName       = "volcano.sh/job-name"
	JobNamespace  = "volcano.sh/job-namespace"
	TaskSpec      = "volcano.sh/task-spec"
	TaskIndex     = "volcano.sh/task-index"
	PartitionID   = "volcano.sh/partition-id"
	QueueName     = "volcano.sh/queue-name"
	JobVersion    = "volcano.sh/job-version"
	JobRetryCount = "volcano.sh/job-retry-count"
	TemplateUID   = "volcano.sh/template-uid"
	NumaPolicy    = "volcano.sh/numa-topology-policy"
	TaskPriority  = "volcano.sh/task-priority"
	// OutOfSync marks a pod that a controller stops: its end is not an event for policies.
	OutOfSync = "volcano.sh/controller-out-of-sync"
)

// Keys on pods for the admission webhooks.
const (
	// ResourceGroup is the annotation of a pod with the resource group that it belongs to.
	ResourceGroup = "volcano.sh/resource-group"
	// QueueAllocationGate is the annotation ("true") with which a pod requests a scheduling gate until its queue has
	// enough free capacity. It is also the name of that gate.
	QueueAllocationGate = "scheduling.volcano.sh/queue-allocation-gate"
)

// Keys on pods and PodGroups.
const (
	Preemptable         = "volcano.sh/preemptable"
	CooldownTime        = "volcano.sh/cooldown-time"
	RevocableZone       = "volcano.sh/revocable-zone"
	JDBMinAvailable     = "volcano.sh/jdb-min-available"
	JDBMaxUnavailable   = "volcano.sh/jdb-max-unavailable"
	NetworkTopologyMode = "volcano.sh/network-topology-mode"
	NetworkTopologyTier = "volcano.sh/network-topology-highest-tier"
)

// RunningEstimate is the annotation of pods and PodGroups with the expected run time of a pod, as a Go duration (90m,
// 1h30m). The PodGroup of a job takes it from spec.runningEstimate.
const RunningEstimate = OurPrefix + "running-estimate"

// Backfill is the annotation of queues that permits ("true") or forbids ("false") gangs to overtake a gang that cannot
// start, provided that they do not delay it.
const Backfill = OurPrefix + "backfill"

// User is the annotation or label of a PodGroup with the user who submitted it, to whom its usage is charged. A
// PodGroup inherits it from its Job.
const User = OurPrefix + "user"

// UsageName is the ConfigMap, in the scheduler's namespace, that stores the usage of accounts.
const UsageName = "vc-scheduler-usage"

// PodGroupOf returns the name of the PodGroup in a pod's annotations, or "".
func PodGroupOf(annotations map[string]string) string {
	if name := annotations[GroupName]; name != "" {
		return name
	}
	return annotations[VolcanoGroupName]
}

// TakenOver is the annotation of PodGroups of plain pods with the keys, separated by commas, that they inherited from
// pods and owners. They lose a key when its source does.
const TakenOver = OurPrefix + "taken-over"

// Keys on jobs.
const (
	// JobType is the label that job lists show as JobType.
	JobType       = "volcano.sh/job-type"
	JobForwarding = "volcano.sh/job-forwarding"
	// ForwardCluster is the annotation of a pod whose job may run in other clusters, with the cluster that it is sent
	// to. The component that forwards the pod sets it.
	ForwardCluster = "volcano.sh/forward-cluster"
)

// Keys on queues.
const (
	ClosedByParent   = "volcano.sh/closed-by-parent"
	Hierarchy        = "volcano.sh/hierarchy"
	HierarchyWeights = "volcano.sh/hierarchy-weights"
	// QueueState is the annotation with the desired state of a queue, "Open" or "Closed". Without it the last command
	// counts.
	QueueState = OurPrefix + "queue-state"
	// ElasticCluster is the annotation of a queue that admits gangs up to the queue's own limits, independent of the
	// current size of the cluster: the cluster grows with the waiting gangs.
	ElasticCluster = OurPrefix + "elastic-cluster"
)

// VolcanoPrefix is the prefix of the annotations that a PodGroup inherits from its Job.
const VolcanoPrefix = "volcano.sh/"

// OurPrefix is the prefix of the project's own keys.
const OurPrefix = "vc-batch.dev/"

// NodeKind is the label of the nodes of vc-local: process or simulated.
const NodeKind = OurPrefix + "node-kind"

// PodGroupNamePrefix is the prefix of the names of PodGroups created for plain pods.
const PodGroupNamePrefix = "podgroup-"

// DefaultSchedulerName is the default spec.schedulerName of pods for this scheduler.
const DefaultSchedulerName = "volcano"

// DefaultQueue is the queue of jobs without a queue; RootQueue is the root of the hierarchy.
const (
	DefaultQueue = "default"
	RootQueue    = "root"
)
