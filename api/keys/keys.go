// Package keys lists the labels and annotations that parts of the system know each other's objects by.
//
// Keys under volcano.sh/, scheduling.volcano.sh/ and scheduling.k8s.io/ are Volcano's; ours begin with vc-batch.dev/.
package keys

// On pods.
const (
	// GroupName is the annotation that names the PodGroup of a pod.
	GroupName = "scheduling.k8s.io/group-name"
	// VolcanoGroupName is the same, in the other spelling: it counts where GroupName is not there.
	VolcanoGroupName = "scheduling.volcano.sh/group-name"
	// PodQueueName is the annotation that names the queue of a plain pod, of its owner or its namespace.
	PodQueueName = "scheduling.volcano.sh/queue-name"
	// GroupMinMember is the annotation on a workload: minMember of the PodGroup made for its pods.
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
	// OutOfSync marks a pod that a controller stops itself: its end is no event for policies.
	OutOfSync = "volcano.sh/controller-out-of-sync"
)

// On pods, for the door.
const (
	// ResourceGroup is the annotation on a pod that names the resource group it belongs to.
	ResourceGroup = "volcano.sh/resource-group"
	// QueueAllocationGate is the annotation ("true") by which a pod asks to be gated until its queue has room, and the name of that scheduling gate.
	QueueAllocationGate = "scheduling.volcano.sh/queue-allocation-gate"
)

// On pods and PodGroups.
const (
	Preemptable         = "volcano.sh/preemptable"
	CooldownTime        = "volcano.sh/cooldown-time"
	RevocableZone       = "volcano.sh/revocable-zone"
	JDBMinAvailable     = "volcano.sh/jdb-min-available"
	JDBMaxUnavailable   = "volcano.sh/jdb-max-unavailable"
	NetworkTopologyMode = "volcano.sh/network-topology-mode"
	NetworkTopologyTier = "volcano.sh/network-topology-highest-tier"
)

// RunningEstimate is our annotation on pods and PodGroups: how long a pod is expected to run, as a duration of Go (90m, 1h30m). The PodGroup of a
// job takes it from spec.runningEstimate.
const RunningEstimate = OurPrefix + "running-estimate"

// Backfill is our annotation on queues: "true" or "false" says whether gangs behind one that cannot start may pass it when they do not delay it.
const Backfill = OurPrefix + "backfill"

// User is the annotation, or label, of a PodGroup that names who submitted it: whose use of the cluster counts. A
// PodGroup takes it over from its Job.
const User = OurPrefix + "user"

// UsageName is the ConfigMap, in the scheduler's namespace, in which the scheduler keeps what accounts have used.
const UsageName = "vc-scheduler-usage"

// PodGroupOf is the name of the PodGroup that a pod's annotations name, "" when they name none.
func PodGroupOf(annotations map[string]string) string {
	if name := annotations[GroupName]; name != "" {
		return name
	}
	return annotations[VolcanoGroupName]
}

// TakenOver is our annotation on the PodGroups of plain pods: the keys, separated by commas, that they have from pods and owners, and lose with them.
const TakenOver = OurPrefix + "taken-over"

// On jobs.
const (
	// JobType is the label that job lists show as JobType.
	JobType       = "volcano.sh/job-type"
	JobForwarding = "volcano.sh/job-forwarding"
	// ForwardCluster names, on a pod whose job may run in other clusters, the one that it goes to; what sends it there fills it in.
	ForwardCluster = "volcano.sh/forward-cluster"
)

// On queues.
const (
	ClosedByParent   = "volcano.sh/closed-by-parent"
	Hierarchy        = "volcano.sh/hierarchy"
	HierarchyWeights = "volcano.sh/hierarchy-weights"
	// QueueState is the annotation by which a queue says itself whether it is to be "Open" or "Closed"; without it the last command counts.
	QueueState = OurPrefix + "queue-state"
	// ElasticCluster is the annotation of a queue that lets gangs in up to its own limits, whatever the cluster
	// has just now: the cluster grows with what waits.
	ElasticCluster = OurPrefix + "elastic-cluster"
)

// VolcanoPrefix begins the annotations that a PodGroup takes over from its Job.
const VolcanoPrefix = "volcano.sh/"

// OurPrefix begins our own keys.
const OurPrefix = "vc-batch.dev/"

// NodeKind is the label on the nodes of vc-local: process or simulated.
const NodeKind = OurPrefix + "node-kind"

// PodGroupNamePrefix begins the names of PodGroups made for plain pods.
const PodGroupNamePrefix = "podgroup-"

// DefaultSchedulerName is the scheduler name that we answer to.
const DefaultSchedulerName = "volcano"

// DefaultQueue is the queue of those who name none; RootQueue is the parent of all.
const (
	DefaultQueue = "default"
	RootQueue    = "root"
)
