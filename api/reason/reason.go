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
	{NotEnqueued, "it is not yet admitted to its queue", "wait until the queue has room for its minimum", "Resources"},
	{NoHyperNode, "no hyperNode is as near as the gang wants its pods to be", "correct networkTopology (highestTierAllowed, highestTierName), or the hyperNodes", "BadConstraints"},
	{HyperNodeInvalid, "a hyperNode that could hold the gang cannot be used", "correct the hyperNode, or let the gang use a higher tier", "BadConstraints"},
	{SubGroupInvalid, "a subGroupPolicy of the gang cannot be read", "correct it", "BadConstraints"},
	{QueueMissing, "the queue does not exist", "create the queue, or submit to another one (vcctl queue list)", "PartitionDown"},
	{QueueClosed, "the queue is closed", "open the queue (vcctl queue open QUEUE), or submit to another one", "PartitionInactive"},
	{QueueNotLeaf, "the queue has children; only its leaves take jobs", "submit to one of its children", "PartitionInactive"},
	{QueueInvalid, "the queue has no valid place in the tree of queues", "correct its parent, or submit to another queue", "PartitionInactive"},
	{QueueContradiction, "part of what the queue says has no effect", "correct it", "PartitionConfig"},
	{Overcommitted, "gangs that are let in ask for as much as the cluster may promise", "wait until some have started and ended, add nodes, or raise overcommit-factor", "Resources"},
	{OverQuota, "the namespace's quota has too little left", "wait for pods of this namespace to end, ask for less, or raise the ResourceQuota", assocLimit},
	{OverCapability, "the queue would exceed its capability", "ask for less, wait for jobs of this queue to end, or raise the capability", qosLimit},
	{OverDeserved, "the queue holds its share already", "wait for jobs of this queue to end, or submit to another queue", qosLimit},
	{NotReclaimable, "what is missing is held by queues that do not give back", "wait for their jobs to end, or make those queues reclaimable", "Resources"},
	{GangDoesNotFit, "not all members of the gang fit at once", "lower minAvailable or the requests, or add nodes", "Resources"},
	{ExtraPodsWait, "the job runs, and its pods beyond the minimum wait", "wait: they start when there is room; or request less, or add nodes", "Resources"},
	{WaitingForVictims, "its room is becoming free: pods that were evicted or deleted are ending", "wait until they have ended", "Resources"},
	{PodsLinger, "the room is held by deleted pods that do not end", "look what holds them: a finalizer (kubectl get pod NAME -o yaml), or a node that is gone (then kubectl delete pod NAME --force)", "Resources"},
	{KeptForLost, "the room is kept for new pods of a running gang that lost some", "wait: if they do not come, the room is free then", "Resources"},
	{BehindOthers, "others are ahead of it in the queue", "wait, or raise its priority", "Priority"},
	{Reserved, "the room is kept for a gang that is before it", "give it a time limit that ends before then (runningEstimate, activeDeadlineSeconds), or wait", "Priority"},
	{NoNodes, "the cluster has no nodes", "add a node", "Resources"},
	{SchedulingGated, "its pods carry scheduling gates", "wait until what set the gates removes them", "JobHeldUser"},
	{PodGroupMissing, "the pod's PodGroup does not exist in its namespace", "create the PodGroup there, or correct the pod's annotation scheduling.k8s.io/group-name; for pods without one, is the controller running? (vcd controllers)", "JobHeldAdmin"},
	{InsufficientResource, "too little is free on the node", "ask for less, or wait", "Resources"},
	{TooManyPods, "the node holds as many pods as it may", "add nodes", "Resources"},
	{NodeUnschedulable, "the node is cordoned", "vcctl node uncordon NODE", "ReqNodeNotAvail"},
	{NodeNotReady, "the node is not ready", "look at the node", "ReqNodeNotAvail"},
	{UntoleratedTaint, "the node has a taint that the pod does not tolerate", "add a toleration", "ReqNodeNotAvail"},
	{NodeSelectorMismatch, "the node's labels do not match the node selector", "correct the selector, or label a node", "BadConstraints"},
	{NodeAffinityMismatch, "the node does not match the node affinity", "correct the affinity, or label a node", "BadConstraints"},
	{PodAffinityMismatch, "the pod's affinity to other pods is not met", "correct the affinity, or wait for those pods", "BadConstraints"},
	{TopologySpread, "the pod would break its topology spread", "relax maxSkew, or add nodes", "BadConstraints"},
	{PortInUse, "a host port is taken", "wait, or use another port", "Resources"},
	{VolumeUnavailable, "a volume of the pod cannot be used", "create the claim, or correct it", "BurstBufferResources"},
	{VolumeNodeMismatch, "the volume is not reachable from the node", "let the pod run where its volume is, or use another claim", "BurstBufferResources"},
	{VolumeZoneMismatch, "the volume is in another zone than the node", "let the pod run in the volume's zone, or use another claim", "BurstBufferResources"},
	{VolumeLimit, "the node has as many volumes attached as it can", "add nodes, or wait until pods with volumes end", "BurstBufferResources"},
	{VolumeInUse, "another pod uses a volume that only one may use", "wait until that pod has ended", "BurstBufferResources"},
	{NoVolume, "no volume that the node can reach fits the claim", "create a volume of the claim's class, or correct the claim", "BurstBufferResources"},
	{StorageFull, "the storage that the node can reach has too little free", "ask for a smaller volume, or add storage", "BurstBufferResources"},
	{DevicesUnavailable, "a device claim of the pod cannot be used", "create the claim or its device class, or correct it", "Resources"},
	{DevicesTaken, "the node has no free devices for the pod's claims", "wait, ask for fewer devices, or add nodes that have them", "Resources"},
	{ByPolicy, "a policy of this cluster keeps the pod off", "ask who runs the cluster", "AdminComment"},
	{TooLarge, "no node is large enough even when empty", "ask for less per pod", "Resources"},
	{KeptForOthers, "the node keeps cpu and memory for pods that ask for its devices", "wait, or let policy resource-strategy-fit keep less (proportional)", "Resources"},
	{NodeOverloaded, "the node is busier than new pods may find it", "wait until its load falls, or raise the thresholds of policy usage", "Resources"},
	{ZoneClosed, "the node is lent at certain hours only, and now is none", "wait until the zone opens (tdm.revocable-zone), or use other nodes", "ReqNodeNotAvail"},
	{NotRevocable, "the node is lent for some hours, and the pod does not allow to be taken off it", "annotate the pods with volcano.sh/revocable-zone: \"*\", or use other nodes", "BadConstraints"},
	{NodeGroupMismatch, "the node's group is none that the queue may use", "label a node volcano.sh/nodegroup-name, or correct the queue's affinity", "BadConstraints"},
	{NodeGroupLimit, "the queue would exceed its limit in the node's group", "wait for jobs of this queue to end there, or raise the limit (volcano.sh/nodegroup-resource-limits)", "QOSResourceLimit"},
	{DeviceMissing, "the node has no devices of the kind that is asked for", "look whether the device plugin runs there", "BadConstraints"},
	{DeviceMismatch, "none of the node's cards is one that the pod accepts", "correct the annotations about type, uuid and mode of cards", "BadConstraints"},
	{DeviceShort, "no card of the node has enough left", "ask for less of each card, or wait", "Resources"},
	{DeviceExclusive, "the cards that are left hold pods that this one may not share a card with", "wait for those to end, or relax the rule", "Resources"},
	{DeviceLocked, "the node is handing devices to another pod", "wait some seconds", "Resources"},
	{DeviceRequestInvalid, "what the pod asks of devices makes no sense", "correct the limits of its containers", "BadConstraints"},
	{NumaUnknown, "the node does not say how its cpus are arranged", "look whether the exporter of Numatopology runs there", "BadConstraints"},
	{NumaPolicyMismatch, "the kubelet there does not place cpus as the pod wants it", "correct the annotation volcano.sh/numa-topology-policy, or use other nodes", "BadConstraints"},
	{NumaUnaligned, "the free cpus are too scattered over NUMA nodes", "ask for fewer cpus per container, or wait", "Resources"},
	{ExtenderRefused, "an extender refuses it", "ask the one who runs it", "BadConstraints"},
	{ExtenderFailed, "an extender does not answer", "look at it, or set extender.ignorable", "Resources"},
	{NotPreemptable, "the pod or its PodGroup says that it may not be preempted", "set volcano.sh/preemptable on it, where that is right", "Resources"},
	{SystemPod, "the pod is one that the cluster itself needs", "wait, or add nodes", "Resources"},
	{BudgetExhausted, "a PodDisruptionBudget lets no more of its pods go", "wait until more of them are healthy, or relax the budget", "Resources"},
	{InCooldown, "the pod has not yet run for its cooldown time", "wait until that is over", "Resources"},
	{AtMinimum, "the gang has no more than its minimum, and may not be evicted whole", "wait, or let whole gangs go", "Resources"},
	{NotLower, "the pod's gang has the same priority or a higher one", "raise the priority of the gang that waits", "Priority"},
	{NoLowerShare, "the pod's gang would be left with a lower dominant share than the gang that waits gets", "wait", "Priority"},
	{WouldTakeBack, "the gang would take the room back at once", "wait", "Priority"},
	{GaveByShare, "the gang that waits gave room to one with a smaller share, which is still there, and a later tier gives it nothing for that", "wait, or name priority in a tier before that of shares", "Priority"},
	{NotEnoughVictims, "not even all pods that may be evicted make enough room", "ask for less, or add nodes", "Resources"},
	{NeverPreempts, "the preemptionPolicy of the gang's pods is Never", "change it where others may be evicted for the gang", "Priority"},
	{WithinShare, "the pod's queue holds no more than it deserves", "wait, or raise the share of the queue that waits", "Resources"},
	{Guaranteed, "the pod's queue would hold less than it is guaranteed", "wait, or lower that queue's guarantee", "Resources"},
	{JobHeldUser, "the job is held by its user", "vcctl job release NAME", "JobHeldUser"},
	{JobHeldAdmin, "the job is held by an administrator", "ask an administrator to release it", "JobHeldAdmin"},
	{BeginTime, "the job is not to begin yet", "wait until then, or change the annotation vc-batch.dev/begin", "BeginTime"},
	{Dependency, "the job waits for other jobs", "wait for them, or change the annotation vc-batch.dev/dependency", "Dependency"},
	{DependencyNeverSatisfied, "what the job waits for can never be", "change the annotation vc-batch.dev/dependency, or delete the job", "DependencyNeverSatisfied"},
	{GateInvalid, "an annotation that says when the job may start cannot be read", "correct it", "BadConstraints"},
	{JobArrayTaskLimit, "as many elements of the array run as may at once", "wait until one has ended, or raise the annotation vc-batch.dev/array-limit", "JobArrayTaskLimit"},
	{PodFailed, "a pod failed", "look at what it wrote (vcctl job logs)", "NonZeroExitCode"},
	{DeadlineExceeded, "a pod was over its time limit", "raise activeDeadlineSeconds, or do less in one pod", "TimeLimit"},
	{StartError, "a container could not start", "correct its command or image", "JobLaunchFailure"},
	{OOMKilled, "a container used more memory than it may", "raise its memory limit", "OutOfMemory"},
	{Evicted, "a pod was evicted: its node ran short, or was drained", "request what the pod uses, and let a policy restart the job", "NodeFail"},
	{Preempted, "a pod made room for others", "wait: nothing is wrong with it; let a policy restart the job, or give it a higher priority", "Preempted"},
	{NodeStopped, "the node was stopped while a pod ran", "submit the job again, or let a policy restart it", "NodeDown"},
	{PodRefused, "nodes refused pods that were bound to them, again and again", "see who else puts pods on these nodes, and what their kubelets say", "JobLaunchFailure"},
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
