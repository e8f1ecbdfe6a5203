// Package keys defines the labels and annotations that the components use on objects.
//
// Keys with the prefixes volcano.sh/, scheduling.volcano.sh/ and scheduling.k8s.io/ are Volcano's. This project's own
// keys have the prefix vc-batch.dev/.
package keys

// Keys on pods.
const (
	// GroupName is the annotation with the name of a pod's PodGroup.
	GroupName = "scheduling.k8s.io/group-name"
	// VolcanoGroupName is an alternative to GroupName, which takes precedence.
	VolcanoGroupName = "scheduling.volcano.sh/group-name"
	// PodQueueName is the annotation with the queue of a pod that does not belong to a job. It is set on the pod, its
	// owner or its namespace.
	PodQueueName = "scheduling.volcano.sh/queue-name"
	// GroupMinMember is the annotation of a workload with the minMember of the PodGroup that is created for its pods.
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
	// OutOfSync marks a pod that is being stopped by a controller. Policies ignore the end of such a pod.
	OutOfSync = "volcano.sh/controller-out-of-sync"
)

// Keys on pods for the admission webhooks.
const (
	// ResourceGroup is the annotation with the resource group to which a pod belongs.
	ResourceGroup = "volcano.sh/resource-group"
	// QueueAllocationGate is the annotation which, if set to "true", requests a scheduling gate for a pod. The gate
	// remains until the pod's queue has enough free capacity. QueueAllocationGate is also the name of the gate.
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

// RunningEstimate is the annotation of pods and PodGroups with the expected run time of a pod, as a Go duration such
// as 90m or 1h30m. The PodGroup of a job gets it from spec.runningEstimate.
const RunningEstimate = OurPrefix + "running-estimate"

// Backfill is the annotation of queues that permits ("true") or forbids ("false") backfilling. With backfilling, gangs
// may overtake a gang that cannot start, provided that they do not delay it.
const Backfill = OurPrefix + "backfill"

// User is the annotation with the user who submitted a PodGroup, and to whom its usage is charged. A
// PodGroup inherits it from its Job.
const User = OurPrefix + "user"

// UsageName is the name of the ConfigMap, in the scheduler's namespace, that stores the usage of accounts.
const UsageName = "vc-scheduler-usage"

// UsageData is the key in the ConfigMap UsageName that holds all usage, as a JSON list.
const UsageData = "usage"

// BudgetUsageData is the key in the ConfigMap UsageName that holds the usage of the budgets of accounts, as a JSON list.
const BudgetUsageData = "budgets"

// PodGroupOf returns the name of the PodGroup that a pod's annotations specify, or "".
func PodGroupOf(annotations map[string]string) string {
	if name := annotations[GroupName]; name != "" {
		return name
	}
	return annotations[VolcanoGroupName]
}

// TakenOver is the annotation of a PodGroup created for plain pods that lists, separated by commas, the keys that it
// inherited from pods and owners. When the source no longer has a key, the key is also removed from the PodGroup.
const TakenOver = OurPrefix + "taken-over"

// Keys on jobs.
const (
	// JobType is the label that job lists show as JobType.
	JobType       = "volcano.sh/job-type"
	JobForwarding = "volcano.sh/job-forwarding"
	// ForwardCluster is the annotation with the cluster to which a pod is forwarded if its job may run in other
	// clusters. It is set by the component that forwards the pod.
	ForwardCluster = "volcano.sh/forward-cluster"
)

// Keys on queues.
const (
	ClosedByParent   = "volcano.sh/closed-by-parent"
	Hierarchy        = "volcano.sh/hierarchy"
	HierarchyWeights = "volcano.sh/hierarchy-weights"
	// QueueState is the annotation with the desired state of a queue, "Open" or "Closed". Without the annotation, the
	// last command determines the state.
	QueueState = OurPrefix + "queue-state"
	// ElasticCluster is the annotation of a queue that admits gangs up to the queue's own limits. The current size of
	// the cluster does not matter for such a queue, because the cluster grows when gangs are waiting.
	ElasticCluster = OurPrefix + "elastic-cluster"
)

// VolcanoPrefix is the prefix of the annotations that a PodGroup inherits from its Job.
const VolcanoPrefix = "volcano.sh/"

// OurPrefix is the prefix of the project's own keys.
const OurPrefix = "vc-batch.dev/"

// NodeKind is the label with the kind of a vc-local node: process or simulated.
const NodeKind = OurPrefix + "node-kind"

// PodGroupNamePrefix is the prefix of the names of PodGroups that are created for plain pods.
const PodGroupNamePrefix = "podgroup-"

// DefaultSchedulerName is the default spec.schedulerName of pods that this scheduler places.
const DefaultSchedulerName = "volcano"

// DefaultQueue is the queue of jobs that do not specify one; RootQueue is the root of the queue hierarchy.
const (
	DefaultQueue = "default"
	RootQueue    = "root"
)
