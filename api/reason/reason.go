// Package reason contains the table of all reasons that the system reports: in status, events, conditions, the command
// line and the dashboard.
package reason

// Code identifies a reason: one stable CamelCase word that scripts can rely on.
type Code string

// Reason holds the texts for a Code.
type Reason struct {
	Code Code
	// Sentence describes the situation.
	Sentence string
	// Hint suggests what the user can do.
	Hint string
	// Slurm is the name in squeue's REASON column; SlurmFor is more precise if the name depends on the resource.
	Slurm string
}

// qosLimit and assocLimit are Slurm's names for a limit of a queue and of a namespace, without the resource.
const (
	qosLimit   = "QOSResourceLimit"
	assocLimit = "AssocResourceLimit"
)

// SlurmFor returns the name in squeue's REASON column for the resource that is short: cpu, memory, pods or a device.
func (r Reason) SlurmFor(resource string) string {
	switch {
	case resource == "":
		return r.Slurm
	case r.Slurm == qosLimit:
		return limitOf("QOSGrp", "NodeLimit", resource)
	case r.Slurm == assocLimit && resource == "pods":
		return "AssocMaxJobsLimit"
	case r.Slurm == assocLimit:
		return limitOf("AssocGrp", "", resource)
	}
	return r.Slurm
}

func limitOf(whose, pods, resource string) string {
	switch resource {
	case "cpu":
		return whose + "CpuLimit"
	case "memory":
		return whose + "MemLimit"
	case "pods":
		return whose + pods
	default:
		return whose + "GRES"
	}
}

// Reasons why a gang waits, or a node cannot run a pod.
const (
	NotEnoughPods        Code = "NotEnoughPods"
	NotEnqueued          Code = "NotEnqueued"
	NoHyperNode          Code = "NoHyperNode"
	HyperNodeInvalid     Code = "HyperNodeInvalid"
	SubGroupInvalid      Code = "SubGroupInvalid"
	QueueMissing         Code = "QueueMissing"
	QueueClosed          Code = "QueueClosed"
	QueueNotLeaf         Code = "QueueNotLeaf"
	QueueInvalid         Code = "QueueInvalid"
	QueueContradiction   Code = "QueueContradiction"
	Overcommitted        Code = "Overcommitted"
	OverQuota            Code = "OverQuota"
	OverCapability       Code = "OverCapability"
	OverDeserved         Code = "OverDeserved"
	NotReclaimable       Code = "NotReclaimable"
	GangDoesNotFit       Code = "GangDoesNotFit"
	ExtraPodsWait        Code = "ExtraPodsWait"
	WaitingForVictims    Code = "WaitingForVictims"
	PodsLinger           Code = "PodsLinger"
	KeptForLost          Code = "KeptForLost"
	BehindOthers         Code = "BehindOthers"
	Reserved             Code = "Reserved"
	NoNodes              Code = "NoNodes"
	SchedulingGated      Code = "SchedulingGated"
	PodGroupMissing      Code = "PodGroupMissing"
	InsufficientResource Code = "InsufficientResource"
	TooManyPods          Code = "TooManyPods"
	NodeUnschedulable    Code = "NodeUnschedulable"
	NodeNotReady         Code = "NodeNotReady"
	UntoleratedTaint     Code = "UntoleratedTaint"
	NodeSelectorMismatch Code = "NodeSelectorMismatch"
	NodeAffinityMismatch Code = "NodeAffinityMismatch"
	PodAffinityMismatch  Code = "PodAffinityMismatch"
	TopologySpread       Code = "TopologySpread"
	PortInUse            Code = "PortInUse"
	VolumeUnavailable    Code = "VolumeUnavailable"
	VolumeNodeMismatch   Code = "VolumeNodeMismatch"
	VolumeZoneMismatch   Code = "VolumeZoneMismatch"
	VolumeLimit          Code = "VolumeLimit"
	VolumeInUse          Code = "VolumeInUse"
	NoVolume             Code = "NoVolume"
	StorageFull          Code = "StorageFull"
	DevicesUnavailable   Code = "DevicesUnavailable"
	DevicesTaken         Code = "DevicesTaken"
	TooLarge             Code = "TooLarge"
	KeptForOthers        Code = "KeptForOthers"
	NodeOverloaded       Code = "NodeOverloaded"
	ZoneClosed           Code = "ZoneClosed"
	NotRevocable         Code = "NotRevocable"
	NodeGroupMismatch    Code = "NodeGroupMismatch"
	NodeGroupLimit       Code = "NodeGroupLimit"
	DeviceMissing        Code = "DeviceMissing"
	DeviceMismatch       Code = "DeviceMismatch"
	DeviceShort          Code = "DeviceShort"
	DeviceExclusive      Code = "DeviceExclusive"
	DeviceLocked         Code = "DeviceLocked"
	DeviceRequestInvalid Code = "DeviceRequestInvalid"
	NumaUnknown          Code = "NumaUnknown"
	NumaPolicyMismatch   Code = "NumaPolicyMismatch"
	NumaUnaligned        Code = "NumaUnaligned"
	ExtenderRefused      Code = "ExtenderRefused"
	ExtenderFailed       Code = "ExtenderFailed"
	ByPolicy             Code = "ByPolicy"
)

// Reasons why a pod is not evicted for a waiting gang.
const (
	NotPreemptable   Code = "NotPreemptable"
	SystemPod        Code = "SystemPod"
	BudgetExhausted  Code = "BudgetExhausted"
	InCooldown       Code = "InCooldown"
	AtMinimum        Code = "AtMinimum"
	NotLower         Code = "NotLower"
	NoLowerShare     Code = "NoLowerShare"
	WouldTakeBack    Code = "WouldTakeBack"
	GaveByShare      Code = "GaveByShare"
	NotEnoughVictims Code = "NotEnoughVictims"
	NeverPreempts    Code = "NeverPreempts"
	WithinShare      Code = "WithinShare"
	Guaranteed       Code = "Guaranteed"
)

// Reasons why a job has not started although its user expects it: its own settings delay it.
const (
	JobHeldUser              Code = "JobHeldUser"
	JobHeldAdmin             Code = "JobHeldAdmin"
	BeginTime                Code = "BeginTime"
	Dependency               Code = "Dependency"
	DependencyNeverSatisfied Code = "DependencyNeverSatisfied"
	GateInvalid              Code = "GateInvalid"
	JobArrayTaskLimit        Code = "JobArrayTaskLimit"
)

// Reasons why a job failed, derived from the first of its failed pods.
const (
	PodFailed        Code = "PodFailed"
	DeadlineExceeded Code = "DeadlineExceeded"
	StartError       Code = "StartError"
	OOMKilled        Code = "OOMKilled"
	Evicted          Code = "Evicted"
	Preempted        Code = "Preempted"
	NodeStopped      Code = "NodeStopped"
	PodRefused       Code = "PodRefused"
)

// Table lists all reasons, in the order of the documentation.
var Table = []Reason{
	{NotEnoughPods, "fewer pods exist than the gang needs", "wait until their controller has created the pods, or create them yourself; or lower minAvailable (minMember of a PodGroup)", "Resources"},
	{NotEnqueued, "it is not yet admitted to its queue", "wait until the queue has enough free resources for its minimum", "Resources"},
	{NoHyperNode, "no HyperNode satisfies the gang's network topology", "correct networkTopology (highestTierAllowed, highestTierName), or the HyperNodes", "BadConstraints"},
	{HyperNodeInvalid, "a HyperNode that could hold the gang is invalid", "correct the HyperNode, or allow the gang a higher tier", "BadConstraints"},
	{SubGroupInvalid, "a subGroupPolicy of the gang is invalid", "correct it", "BadConstraints"},
	{QueueMissing, "the queue does not exist", "create the queue, or submit to another one (vcctl queue list)", "PartitionDown"},
	{QueueClosed, "the queue is closed", "open the queue (vcctl queue open QUEUE), or submit to another one", "PartitionInactive"},
	{QueueNotLeaf, "the queue has child queues; only leaf queues accept jobs", "submit to one of its child queues", "PartitionInactive"},
	{QueueInvalid, "the queue has no valid place in the queue hierarchy", "correct its parent, or submit to another queue", "PartitionInactive"},
	{QueueContradiction, "some settings of the queue have no effect", "correct it", "PartitionConfig"},
	{Overcommitted, "the admitted gangs already request as much as the cluster's overcommit limit allows", "wait until some of them have ended, add nodes, or raise overcommit-factor", "Resources"},
	{OverQuota, "the request exceeds the free part of the namespace's quota", "wait for pods of this namespace to end, request less, or raise the ResourceQuota", assocLimit},
	{OverCapability, "the queue would exceed its capability", "request less, wait for jobs of this queue to end, or raise the capability", qosLimit},
	{OverDeserved, "the queue already uses its whole share", "wait for jobs of this queue to end, or submit to another queue", qosLimit},
	{NotReclaimable, "the missing resources are used by queues that are not reclaimable", "wait for their jobs to end, or make those queues reclaimable", "Resources"},
	{GangDoesNotFit, "not all pods of the gang fit at the same time", "lower minAvailable or the requests, or add nodes", "Resources"},
	{ExtraPodsWait, "the job runs; its pods beyond the minimum wait", "wait until resources are free, request less, or add nodes", "Resources"},
	{WaitingForVictims, "it waits for the resources of evicted or deleted pods that are terminating", "wait until they have ended", "Resources"},
	{PodsLinger, "its resources are still used by deleted pods that do not terminate", "check what keeps them: a finalizer (kubectl get pod NAME -o yaml), or a node that is gone (then kubectl delete pod NAME --force)", "Resources"},
	{KeptForLost, "the resources are held for replacement pods of a running gang", "wait: the resources become free if no replacements are created", "Resources"},
	{BehindOthers, "other jobs are ahead of it in the queue", "wait, or raise its priority", "Priority"},
	{Reserved, "the resources are reserved for a gang that is ahead of it", "set a time limit that ends before then (runningEstimate, activeDeadlineSeconds), or wait", "Priority"},
	{NoNodes, "the cluster has no nodes", "add a node", "Resources"},
	{SchedulingGated, "its pods have scheduling gates", "wait until the program that set the gates removes them", "JobHeldUser"},
	{PodGroupMissing, "the pod's PodGroup does not exist in its namespace", "create the PodGroup there, or correct the pod's annotation scheduling.k8s.io/group-name; for pods without this annotation, check that the controllers run (vcd controllers)", "JobHeldAdmin"},
	{InsufficientResource, "the node has too few free resources", "request less, or wait", "Resources"},
	{TooManyPods, "the node already runs its maximum number of pods", "add nodes", "Resources"},
	{NodeUnschedulable, "the node is cordoned", "vcctl node uncordon NODE", "ReqNodeNotAvail"},
	{NodeNotReady, "the node is not ready", "check the node (kubectl describe node)", "ReqNodeNotAvail"},
	{UntoleratedTaint, "the node has a taint that the pod does not tolerate", "add a toleration", "ReqNodeNotAvail"},
	{NodeSelectorMismatch, "the node's labels do not match the node selector", "correct the selector, or label a node", "BadConstraints"},
	{NodeAffinityMismatch, "the node does not match the node affinity", "correct the affinity, or label a node", "BadConstraints"},
	{PodAffinityMismatch, "the node does not match the pod's affinity or anti-affinity to other pods", "correct the affinity, or wait for those pods", "BadConstraints"},
	{TopologySpread, "the node does not satisfy the pod's topology spread constraints", "relax maxSkew, or add nodes", "BadConstraints"},
	{PortInUse, "a host port of the pod is in use on the node", "wait, or use another port", "Resources"},
	{VolumeUnavailable, "a volume of the pod cannot be used", "create the claim, or correct it", "BurstBufferResources"},
	{VolumeNodeMismatch, "the volume is not reachable from the node", "let the pod run where its volume is, or use another claim", "BurstBufferResources"},
	{VolumeZoneMismatch, "the volume is in a different zone than the node", "let the pod run in the volume's zone, or use another claim", "BurstBufferResources"},
	{VolumeLimit, "the node has its maximum number of volumes attached", "add nodes, or wait until pods with volumes end", "BurstBufferResources"},
	{VolumeInUse, "another pod uses a volume that only one pod can use at a time", "wait until that pod has ended", "BurstBufferResources"},
	{NoVolume, "no volume that the node can reach matches the claim", "create a volume of the claim's class, or correct the claim", "BurstBufferResources"},
	{StorageFull, "the storage that the node can reach has too little free capacity", "request a smaller volume, or add storage", "BurstBufferResources"},
	{DevicesUnavailable, "a device claim of the pod cannot be used", "create the claim or its device class, or correct it", "Resources"},
	{DevicesTaken, "the node has no free devices for the pod's claims", "wait, request fewer devices, or add nodes that have them", "Resources"},
	{ByPolicy, "a policy of this cluster rejects the node for the pod", "ask the administrator", "AdminComment"},
	{TooLarge, "no node is large enough even when empty", "request less per pod", "Resources"},
	{KeptForOthers, "the node reserves cpu and memory for pods that request its devices", "wait, or lower the reserved amounts of policy resource-strategy-fit (proportional)", "Resources"},
	{NodeOverloaded, "the node's load is above the threshold for new pods", "wait until its load falls, or raise the thresholds of policy usage", "Resources"},
	{ZoneClosed, "the node accepts borrowed work only during certain hours, and this is not one of them", "wait until the zone opens (tdm.revocable-zone), or use other nodes", "ReqNodeNotAvail"},
	{NotRevocable, "the node accepts only pods that may be evicted when its hours for borrowed work end", "annotate the pods with volcano.sh/revocable-zone: \"*\", or use other nodes", "BadConstraints"},
	{NodeGroupMismatch, "the queue may not use the node's group", "label a node volcano.sh/nodegroup-name, or correct the queue's affinity", "BadConstraints"},
	{NodeGroupLimit, "the queue would exceed its limit in the node's group", "wait for jobs of this queue to end there, or raise the limit (volcano.sh/nodegroup-resource-limits)", "QOSResourceLimit"},
	{DeviceMissing, "the node has no devices of the requested kind", "check that the device plugin runs on the node", "BadConstraints"},
	{DeviceMismatch, "the pod accepts none of the node's cards", "correct the annotations for the type, UUID and mode of cards", "BadConstraints"},
	{DeviceShort, "no card of the node has enough free capacity", "request less of each card, or wait", "Resources"},
	{DeviceExclusive, "the remaining cards run pods that this pod may not share a card with", "wait for these pods to end, or relax the rule", "Resources"},
	{DeviceLocked, "the node is assigning devices to another pod", "wait a few seconds", "Resources"},
	{DeviceRequestInvalid, "the pod's device request is invalid", "correct the limits of its containers", "BadConstraints"},
	{NumaUnknown, "the node does not report its NUMA topology", "check that the Numatopology exporter runs on the node", "BadConstraints"},
	{NumaPolicyMismatch, "the node's kubelet does not use the NUMA policy that the pod requires", "correct the annotation volcano.sh/numa-topology-policy, or use other nodes", "BadConstraints"},
	{NumaUnaligned, "the free cpus are too scattered over NUMA nodes", "request fewer cpus per container, or wait", "Resources"},
	{ExtenderRefused, "a scheduler extender rejects it", "ask the administrator of the extender", "BadConstraints"},
	{ExtenderFailed, "a scheduler extender does not answer", "check the extender, or set extender.ignorable", "Resources"},
	{NotPreemptable, "the pod or its PodGroup is not preemptable", "set volcano.sh/preemptable on it if it may be evicted", "Resources"},
	{SystemPod, "the pod is a system pod", "wait, or add nodes", "Resources"},
	{BudgetExhausted, "a PodDisruptionBudget allows no more disruptions", "wait until more pods of the budget are healthy, or relax the budget", "Resources"},
	{InCooldown, "the pod's cooldown time has not passed yet", "wait until it has passed", "Resources"},
	{AtMinimum, "the gang runs with its minimum, and may not be evicted as a whole", "wait, or allow the eviction of whole gangs", "Resources"},
	{NotLower, "the pod's gang has the same priority or a higher one", "raise the priority of the waiting gang", "Priority"},
	{NoLowerShare, "the eviction would leave the pod's gang with a lower dominant share than the waiting gang", "wait", "Priority"},
	{WouldTakeBack, "the gang would take the resources back immediately", "wait", "Priority"},
	{GaveByShare, "the waiting gang was evicted for a running gang with a smaller share, and no earlier tier allows it to evict that gang", "wait, or configure priority in a tier before the tier of shares", "Priority"},
	{NotEnoughVictims, "evicting all evictable pods would not free enough resources", "request less, or add nodes", "Resources"},
	{NeverPreempts, "the preemptionPolicy of the gang's pods is Never", "change it if other pods may be evicted for the gang", "Priority"},
	{WithinShare, "the pod's queue uses no more than its deserved share", "wait, or raise the share of the waiting queue", "Resources"},
	{Guaranteed, "the pod's queue would drop below its guarantee", "wait, or lower that queue's guarantee", "Resources"},
	{JobHeldUser, "the job is held by its user", "vcctl job release NAME", "JobHeldUser"},
	{JobHeldAdmin, "the job is held by an administrator", "ask an administrator to release it", "JobHeldAdmin"},
	{BeginTime, "the job's begin time has not come yet", "wait until then, or change the annotation vc-batch.dev/begin", "BeginTime"},
	{Dependency, "the job waits for other jobs", "wait for them, or change the annotation vc-batch.dev/dependency", "Dependency"},
	{DependencyNeverSatisfied, "the job's dependency can never be satisfied", "change the annotation vc-batch.dev/dependency, or delete the job", "DependencyNeverSatisfied"},
	{GateInvalid, "an annotation for the start of the job is invalid", "correct it", "BadConstraints"},
	{JobArrayTaskLimit, "the maximum number of array elements is already running", "wait until one ends, or raise the annotation vc-batch.dev/array-limit", "JobArrayTaskLimit"},
	{PodFailed, "a pod failed", "read its logs (vcctl job logs)", "NonZeroExitCode"},
	{DeadlineExceeded, "a pod exceeded its time limit", "raise activeDeadlineSeconds, or do less in one pod", "TimeLimit"},
	{StartError, "a container could not start", "correct its command or image", "JobLaunchFailure"},
	{OOMKilled, "a container exceeded its memory limit", "raise its memory limit", "OutOfMemory"},
	{Evicted, "a pod was evicted because its node ran short of resources or was drained", "request as much as the pod uses, and add a policy that restarts the job", "NodeFail"},
	{Preempted, "a pod was preempted", "nothing is wrong with the job: add a policy that restarts it, or raise its priority", "Preempted"},
	{NodeStopped, "the node was stopped while a pod ran", "submit the job again, or add a policy that restarts it", "NodeDown"},
	{PodRefused, "nodes repeatedly rejected pods that were bound to them", "check which other programs place pods on these nodes, and the logs of their kubelets", "JobLaunchFailure"},
}

var byCode = func() map[Code]Reason {
	m := make(map[Code]Reason, len(Table))
	for _, r := range Table {
		m[r.Code] = r
	}
	return m
}()

// Get returns the entry of a code. The sentence of an unknown code is the code itself.
func Get(c Code) Reason {
	if r, ok := byCode[c]; ok {
		return r
	}
	return Reason{Code: c, Sentence: string(c)}
}
