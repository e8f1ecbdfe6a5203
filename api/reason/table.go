package reason

import "slices"

// Reasons why a gang is waiting, or why a node cannot run a pod.
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
	UserJobLimit         Code = "UserJobLimit"
	UserResourceLimit    Code = "UserResourceLimit"
	AccountJobLimit      Code = "AccountJobLimit"
	AccountResourceLimit Code = "AccountResourceLimit"
	// AccountBudget means that the budget of an account is used up or reserved.
	AccountBudget Code = "AccountBudget"

	QOSJobLimit             Code = "QOSJobLimit"
	QOSResourceLimit        Code = "QOSResourceLimit"
	QOSUserJobLimit         Code = "QOSUserJobLimit"
	QOSUserResourceLimit    Code = "QOSUserResourceLimit"
	QOSAccountJobLimit      Code = "QOSAccountJobLimit"
	QOSAccountResourceLimit Code = "QOSAccountResourceLimit"

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

// Reasons why a job's own settings delay its start, although its user may expect it to start.
const (
	JobHeldUser              Code = "JobHeldUser"
	JobHeldAdmin             Code = "JobHeldAdmin"
	BeginTime                Code = "BeginTime"
	Dependency               Code = "Dependency"
	DependencyNeverSatisfied Code = "DependencyNeverSatisfied"
	GateInvalid              Code = "GateInvalid"
	JobArrayTaskLimit        Code = "JobArrayTaskLimit"
)

// Reasons that only the command line and the dashboard report, for jobs that no scheduler has explained.
const (
	NoPodGroup Code = "NoPodGroup"
	Submitted  Code = "Submitted"
	Starting   Code = "Starting"
	Suspended  Code = "Suspended"
	NoPodRuns  Code = "NoPodRuns"
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

// waiting lists the reasons why a gang is waiting.
var waiting = []Reason{
	{Code: NotEnoughPods, Step: AtSubmit, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "fewer pods exist than the gang needs",
		Hint:     "wait until the controller has created the pods, create the pods yourself, or lower minAvailable (minMember of a PodGroup)"},
	{Code: NotEnqueued, Step: AtAdmission, Pod: Unschedulable, Never: ByCluster, Traits: OthersHoldQueue, Remedies: lessDemand, Slurm: "Resources",
		Sentence: "the gang is not yet admitted to its queue",
		Hint:     "wait until the queue has enough free resources for the gang's minimum"},
	{Code: NoHyperNode, Step: AtNodes, Pod: Unschedulable, Slurm: "BadConstraints",
		Sentence: "no HyperNode satisfies the gang's network topology",
		Hint:     "correct networkTopology (highestTierAllowed, highestTierName), or the HyperNodes"},
	{Code: HyperNodeInvalid, Step: AtNodes, Pod: Unschedulable, Slurm: "BadConstraints",
		Sentence: "a HyperNode that could hold the gang is invalid",
		Hint:     "correct the HyperNode, or allow a higher tier for the gang"},
	{Code: SubGroupInvalid, Step: AtNodes, Pod: Unschedulable, Slurm: "BadConstraints",
		Sentence: "a subGroupPolicy of the gang is invalid",
		Hint:     "correct the subGroupPolicy of the PodGroup"},
	{Code: QueueMissing, Step: AtQueue, Pod: OwnCode, Remedies: OtherQueue | CreateQueue, Slurm: "PartitionDown",
		Sentence: "the queue does not exist",
		Hint:     "create the queue, or submit to another queue (vcctl queue list)"},
	{Code: QueueClosed, Step: AtQueue, Pod: OwnCode, Remedies: OtherQueue | OpenQueue, Slurm: "PartitionInactive",
		Sentence: "the queue is closed",
		Hint:     "open the queue (vcctl queue open QUEUE), or submit to another queue"},
	{Code: QueueNotLeaf, Step: AtQueue, Pod: OwnCode, Remedies: OtherQueue, Slurm: "PartitionInactive",
		Sentence: "the queue has child queues; only leaf queues accept jobs",
		Hint:     "submit to one of the queue's child queues"},
	{Code: QueueInvalid, Step: AtQueue, Pod: OwnCode, Remedies: OtherQueue, Slurm: "PartitionInactive",
		Sentence: "the queue's parent is missing or invalid",
		Hint:     "correct the queue's parent, or submit to another queue"},
	{Code: QueueContradiction, Step: AtQueue, Pod: Unschedulable, Slurm: "PartitionConfig",
		Sentence: "some settings of the queue have no effect",
		Hint:     "correct these settings"},
	{Code: Overcommitted, Step: AtAdmission, Pod: Unschedulable, Never: ByLimit, Traits: AnyChangeHelps | OthersHoldQueue, Remedies: lessDemand, Slurm: "Resources",
		Sentence: "the admitted gangs already request as much as the cluster's overcommit limit allows",
		Hint:     "wait until some of these gangs have ended, add nodes, or raise overcommit-factor"},
	{Code: OverQuota, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: AnyChangeHelps, Remedies: lessDemand, Slurm: assocLimit,
		Sentence: "the request exceeds the namespace's remaining quota",
		Hint:     "wait for pods of this namespace to end, request less, or raise the ResourceQuota"},
	{Code: UserJobLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: "AssocMaxJobsLimit",
		Sentence: "the user already runs as many jobs as the account permits",
		Hint:     "wait for one of your running jobs to end, or ask the account's administrator to raise the limit"},
	{Code: UserResourceLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: userLimit,
		Sentence: "the user would exceed the resources that the account permits",
		Hint:     "wait until your jobs in this account end, request less, or ask the account's administrator to raise the limit"},
	{Code: AccountJobLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: "AssocGrpJobsLimit",
		Sentence: "the account, or an account above it, already runs its maximum number of jobs",
		Hint:     "wait for one of the account's running jobs to end, or ask its administrator to raise the limit"},
	{Code: AccountResourceLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: accountLimit,
		Sentence: "the account, or an account above it, would exceed its resource limit",
		Hint:     "wait until jobs of this account end, request less, or ask the account's administrator to raise the limit"},
	{Code: AccountBudget, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: accountBudget,
		Sentence: "the account, or an account above it, would exceed its budget",
		Hint:     "wait until the budget's next period starts or running jobs of this account end early, lower the time limit or the requests, or ask the account's administrator to raise the budget"},
	{Code: QOSJobLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: "QOSGrpJobsLimit",
		Sentence: "the QOS already runs its maximum number of jobs",
		Hint:     "wait for one of the running jobs of this QOS to end, or use another QOS"},
	{Code: QOSResourceLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: qosLimit,
		Sentence: "the QOS would exceed its resource limit",
		Hint:     "wait until jobs of this QOS end, request less, or use another QOS"},
	{Code: QOSUserJobLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: "QOSMaxJobsPerUserLimit",
		Sentence: "the user already runs as many jobs as the QOS permits for each user",
		Hint:     "wait for one of your running jobs of this QOS to end, or use another QOS"},
	{Code: QOSUserResourceLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: userLimit,
		Sentence: "the user would exceed the resources that the QOS permits for each user",
		Hint:     "wait until your jobs of this QOS end, request less, or use another QOS"},
	{Code: QOSAccountJobLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: "MaxJobsPerAccount",
		Sentence: "the account already runs as many jobs as the QOS permits for each account",
		Hint:     "wait for one of the account's running jobs of this QOS to end, or use another QOS"},
	{Code: QOSAccountResourceLimit, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: LimitOfAccount, Slurm: perAccountLimit,
		Sentence: "the account would exceed the resources that the QOS permits for each account",
		Hint:     "wait until the account's jobs of this QOS end, request less, or use another QOS"},
	{Code: OverCapability, Step: AtAdmission, Pod: OwnCode, Never: ByLimit, Traits: OthersHoldQueue, Remedies: lessDemand, Slurm: qosLimit,
		Sentence: "the queue would exceed its capability",
		Hint:     "request less, wait for jobs of this queue to end, or raise the capability"},
	{Code: OverDeserved, Step: AtOrder, Pod: OwnCodeUnlessGrowing, Traits: OthersHoldQueue, Remedies: lessDemand, Slurm: qosLimit,
		Sentence: "the queue already uses its whole share",
		Hint:     "wait for jobs of this queue to end, or submit to another queue"},
	{Code: NotReclaimable, Step: AtEvict, Pod: Unschedulable, Remedies: lessDemand, Slurm: "Resources",
		Sentence: "the missing resources are used by queues that are not reclaimable",
		Hint:     "wait for jobs of these queues to end, or make the queues reclaimable"},
	{Code: GangDoesNotFit, Step: AtNodes, Pod: Unschedulable, Never: ByCluster, Remedies: lessDemand, Slurm: "Resources",
		Sentence: "not all pods of the gang fit at the same time",
		Hint:     "lower minAvailable or the requests, or add nodes"},
	{Code: ExtraPodsWait, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the job is running, but pods above its minimum are waiting",
		Hint:     "wait until resources are free, request less, or add nodes"},
	{Code: WaitingForVictims, Step: AtEvict, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the gang waits for the resources of evicted or deleted pods that are terminating",
		Hint:     "wait until these pods have terminated"},
	{Code: PodsLinger, Step: AtEvict, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the resources that the gang needs are still used by deleted pods that do not terminate",
		Hint:     "check the pods for finalizers (kubectl get pod NAME -o yaml); if their node is gone, delete them with kubectl delete pod NAME --force"},
	{Code: KeptForLost, Step: AtOrder, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the resources are held for replacement pods of a running gang",
		Hint:     "wait: the resources become free if no replacement pods are created"},
	{Code: BehindOthers, Step: AtOrder, Pod: OwnCodeUnlessGrowing, Remedies: HigherPriority | OtherQueue, Slurm: "Priority",
		Sentence: "other jobs are ahead of this job in the queue",
		Hint:     "wait, or raise the job's priority"},
	{Code: Reserved, Step: AtOrder, Pod: Unschedulable, Remedies: ShorterRun | HigherPriority | SmallerGang, Slurm: "Priority",
		Sentence: "the resources are reserved for a gang that is ahead of this job",
		Hint:     "set a time limit that ends before the reservation starts (runningEstimate, activeDeadlineSeconds), or wait"},
	{Code: NoNodes, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the cluster has no nodes",
		Hint:     "add a node"},
	{Code: SchedulingGated, Step: AtNodes, Pod: Unschedulable, Traits: MessageInMeaning, Slurm: "JobHeldUser",
		Sentence: "the gang's pods have scheduling gates",
		Hint:     "wait until the program that set the gates removes them"},
	{Code: PodGroupMissing, Step: AtNodes, Pod: Unschedulable, Slurm: "JobHeldAdmin",
		Sentence: "the pod's PodGroup does not exist in its namespace",
		Hint:     "create the PodGroup in this namespace, or correct the pod's annotation scheduling.k8s.io/group-name; for pods without this annotation, check that the controllers are running (vcd controllers)"},
}

// rejecting lists the reasons why a node cannot run a pod.
var rejecting = []Reason{
	{Code: InsufficientResource, Step: AtNodes, Pod: Unschedulable, Traits: WaitingHelps | AboutCapacity, Slurm: "Resources",
		Sentence: "the node does not have enough free resources",
		Hint:     "request less, or wait"},
	{Code: TooManyPods, Step: AtNodes, Pod: Unschedulable, Traits: WaitingHelps | AboutCapacity, Slurm: "Resources",
		Sentence: "the node already runs its maximum number of pods",
		Hint:     "add nodes"},
	{Code: NodeUnschedulable, Step: AtNodes, Pod: Unschedulable, Slurm: "ReqNodeNotAvail",
		Sentence: "the node is cordoned",
		Hint:     "vcctl node uncordon NODE"},
	{Code: NodeNotReady, Step: AtNodes, Pod: Unschedulable, Traits: RulesOutNode, Slurm: "ReqNodeNotAvail",
		Sentence: "the node is not ready",
		Hint:     "check the node (kubectl describe node)"},
	{Code: UntoleratedTaint, Step: AtNodes, Pod: Unschedulable, Traits: RulesOutNode, Slurm: "ReqNodeNotAvail",
		Sentence: "the node has a taint that the pod does not tolerate",
		Hint:     "add a toleration"},
	{Code: NodeSelectorMismatch, Step: AtNodes, Pod: Unschedulable, Traits: RulesOutNode, Slurm: "BadConstraints",
		Sentence: "the node's labels do not match the node selector",
		Hint:     "correct the selector, or label a node"},
	{Code: NodeAffinityMismatch, Step: AtNodes, Pod: Unschedulable, Traits: RulesOutNode, Slurm: "BadConstraints",
		Sentence: "the node does not match the node affinity",
		Hint:     "correct the affinity, or label a node"},
	{Code: PodAffinityMismatch, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the node does not match the pod's affinity or anti-affinity to other pods",
		Hint:     "correct the affinity or anti-affinity, or wait until the other pods start or end"},
	{Code: TopologySpread, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the node does not satisfy the pod's topology spread constraints",
		Hint:     "relax maxSkew, or add nodes"},
	{Code: PortInUse, Step: AtNodes, Pod: Unschedulable, Traits: AboutCapacity, Slurm: "Resources",
		Sentence: "a host port of the pod is in use on the node",
		Hint:     "wait, or use another port"},
	{Code: VolumeUnavailable, Step: AtNodes, Pod: Unschedulable, Traits: DetailInMeaning, Slurm: "BurstBufferResources",
		Sentence: "a volume of the pod cannot be used",
		Hint:     "create or correct the claim"},
	{Code: VolumeNodeMismatch, Step: AtNodes, Pod: Unschedulable, Slurm: "BurstBufferResources",
		Sentence: "the volume is not reachable from the node",
		Hint:     "run the pod on a node that can reach the volume, or use another claim"},
	{Code: VolumeZoneMismatch, Step: AtNodes, Pod: Unschedulable, Slurm: "BurstBufferResources",
		Sentence: "the volume is in a different zone than the node",
		Hint:     "run the pod in the volume's zone, or use another claim"},
	{Code: VolumeLimit, Step: AtNodes, Pod: Unschedulable, Slurm: "BurstBufferResources",
		Sentence: "the node already has its maximum number of attached volumes",
		Hint:     "add nodes, or wait until pods with volumes end"},
	{Code: VolumeInUse, Step: AtNodes, Pod: Unschedulable, Traits: CodeInMeaning, Slurm: "BurstBufferResources",
		Sentence: "another pod uses a volume that only one pod can use at a time",
		Hint:     "wait until that pod has ended"},
	{Code: NoVolume, Step: AtNodes, Pod: Unschedulable, Traits: CodeInMeaning, Slurm: "BurstBufferResources",
		Sentence: "no volume that the node can reach matches the claim",
		Hint:     "create a volume of the claim's class, or correct the claim"},
	{Code: StorageFull, Step: AtNodes, Pod: Unschedulable, Slurm: "BurstBufferResources",
		Sentence: "the storage that the node can reach does not have enough free capacity",
		Hint:     "request a smaller volume, or add storage"},
	{Code: DevicesUnavailable, Step: AtNodes, Pod: Unschedulable, Traits: DetailInMeaning, Slurm: "Resources",
		Sentence: "a device claim of the pod cannot be used",
		Hint:     "create or correct the claim or its device class"},
	{Code: DevicesTaken, Step: AtNodes, Pod: Unschedulable, Traits: CodeInMeaning, Slurm: "Resources",
		Sentence: "the node has no free devices for the pod's claims",
		Hint:     "wait, request fewer devices, or add nodes with such devices"},
	{Code: ByPolicy, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree | Routine, Slurm: "AdminComment",
		Sentence: "a policy of this cluster rejects the node for the pod",
		Hint:     "ask the administrator"},
	{Code: TooLarge, Step: AtNodes, Pod: Unschedulable, Never: BySize, Traits: AboutCapacity, Remedies: lessDemand, Slurm: "Resources",
		Sentence: "no node is large enough even when empty",
		Hint:     "request less per pod"},
	{Code: KeptForOthers, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the node reserves cpu and memory for pods that request its devices",
		Hint:     "wait, or lower the reservations in policy resource-strategy-fit (proportional)"},
	{Code: NodeOverloaded, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "Resources",
		Sentence: "the node's load is above the threshold for new pods",
		Hint:     "wait until the node's load falls, or raise the thresholds in policy usage"},
	{Code: ZoneClosed, Step: AtNodes, Pod: Unschedulable, Slurm: "ReqNodeNotAvail",
		Sentence: "the node accepts borrowed work only during certain hours, and this is not one of them",
		Hint:     "wait until the zone opens (tdm.revocable-zone), or use other nodes"},
	{Code: NotRevocable, Step: AtNodes, Pod: Unschedulable, Slurm: "BadConstraints",
		Sentence: "the node accepts only pods that may be evicted when its hours for borrowed work end",
		Hint:     "annotate the pods with volcano.sh/revocable-zone: \"*\", or use other nodes"},
	{Code: NodeGroupMismatch, Step: AtNodes, Pod: Unschedulable, Traits: RulesOutNode | StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the queue is not allowed to use the node's group",
		Hint:     "set the label volcano.sh/nodegroup-name on a node, or correct the queue's affinity"},
	{Code: NodeGroupLimit, Step: AtNodes, Pod: Unschedulable, Slurm: qosLimit,
		Sentence: "the queue would exceed its limit in the node's group",
		Hint:     "wait for jobs of this queue in the node group to end, or raise the limit (volcano.sh/nodegroup-resource-limits)"},
	{Code: DeviceMissing, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the node has no devices of the requested kind",
		Hint:     "check that the device plugin is running on the node"},
	{Code: DeviceMismatch, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the node has no card that the pod accepts",
		Hint:     "correct the pod's annotations for the card type, UUID and mode"},
	{Code: DeviceShort, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "no card on the node has enough free capacity",
		Hint:     "request less of each card, or wait"},
	{Code: DeviceExclusive, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the remaining cards are used by pods that must not share a card with this pod",
		Hint:     "wait for these pods to end, or relax the rule"},
	{Code: DeviceLocked, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the node is assigning devices to another pod",
		Hint:     "wait a few seconds"},
	{Code: DeviceRequestInvalid, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the pod's device request is invalid",
		Hint:     "correct the limits of the pod's containers"},
	{Code: NumaUnknown, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the node does not report its NUMA topology",
		Hint:     "check that the Numatopology exporter is running on the node"},
	{Code: NumaPolicyMismatch, Step: AtNodes, Pod: Unschedulable, Traits: StaysWhenFree, Slurm: "BadConstraints",
		Sentence: "the node's kubelet does not use the NUMA policy that the pod requires",
		Hint:     "correct the annotation volcano.sh/numa-topology-policy, or use other nodes"},
	{Code: NumaUnaligned, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "the free cpus are spread over too many NUMA nodes",
		Hint:     "request fewer cpus per container, or wait"},
	{Code: ExtenderRefused, Step: AtNodes, Pod: Unschedulable, Slurm: "BadConstraints",
		Sentence: "a scheduler extender rejects the pod",
		Hint:     "ask the administrator of the extender"},
	{Code: ExtenderFailed, Step: AtNodes, Pod: Unschedulable, Slurm: "Resources",
		Sentence: "a scheduler extender does not respond",
		Hint:     "check the extender, or set extender.ignorable"},
}

// sparing lists the reasons why a pod is not evicted for a waiting gang.
var sparing = []Reason{
	{Code: NotPreemptable, Step: AtEvict, Pod: NotOfPods, Slurm: "Resources",
		Sentence: "the pod or its PodGroup is not preemptable",
		Hint:     "if the pod may be evicted, set volcano.sh/preemptable on the pod or its PodGroup"},
	{Code: SystemPod, Step: AtEvict, Pod: NotOfPods, Slurm: "Resources",
		Sentence: "the pod is a system pod",
		Hint:     "wait, or add nodes"},
	{Code: BudgetExhausted, Step: AtEvict, Pod: NotOfPods, Slurm: "Resources",
		Sentence: "a PodDisruptionBudget allows no more disruptions",
		Hint:     "wait until more pods covered by the PodDisruptionBudget are healthy, or relax the budget"},
	{Code: InCooldown, Step: AtEvict, Pod: NotOfPods, Slurm: "Resources",
		Sentence: "the pod's cooldown time has not passed yet",
		Hint:     "wait until the cooldown time has passed"},
	{Code: AtMinimum, Step: AtEvict, Pod: NotOfPods, Traits: Routine, Slurm: "Resources",
		Sentence: "the pod's gang runs with its minimum number of pods and must not be evicted as a whole",
		Hint:     "wait, or allow the eviction of whole gangs"},
	{Code: NotLower, Step: AtEvict, Pod: NotOfPods, Traits: Routine, Slurm: "Priority",
		Sentence: "the pod's gang has the same or a higher priority",
		Hint:     "raise the priority of the waiting gang"},
	{Code: NoLowerShare, Step: AtEvict, Pod: NotOfPods, Traits: Routine, Slurm: "Priority",
		Sentence: "the eviction would leave the pod's gang with a lower dominant share than the waiting gang",
		Hint:     "wait"},
	{Code: WouldTakeBack, Step: AtEvict, Pod: NotOfPods, Slurm: "Priority",
		Sentence: "the pod's gang would take the resources back immediately",
		Hint:     "wait"},
	{Code: GaveByShare, Step: AtEvict, Pod: NotOfPods, Slurm: "Priority",
		Sentence: "the waiting gang was evicted for a running gang with a smaller share, and no earlier tier allows the waiting gang to evict the running gang",
		Hint:     "wait, or configure policy priority in a tier before the policies for shares"},
	{Code: NotEnoughVictims, Step: AtEvict, Pod: NotOfPods, Traits: Routine, Slurm: "Resources",
		Sentence: "evicting all evictable pods would not free enough resources",
		Hint:     "request less, or add nodes"},
	{Code: NeverPreempts, Step: AtEvict, Pod: NotOfPods, Slurm: "Priority",
		Sentence: "the preemptionPolicy of the gang's pods is Never",
		Hint:     "change the preemptionPolicy if other pods may be evicted for the gang"},
	{Code: WithinShare, Step: AtEvict, Pod: NotOfPods, Traits: Routine, Slurm: "Resources",
		Sentence: "the pod's queue uses no more than its deserved share",
		Hint:     "wait, or raise the share of the waiting queue"},
	{Code: Guaranteed, Step: AtEvict, Pod: NotOfPods, Slurm: "Resources",
		Sentence: "the pod's queue would drop below its guarantee",
		Hint:     "wait, or lower that queue's guarantee"},
}

// delaying lists the reasons why a job's own settings delay it.
var delaying = []Reason{
	{Code: JobHeldUser, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob | CreatesNothing, Slurm: "JobHeldUser",
		Sentence: "the job is held by its user",
		Hint:     "vcctl job release NAME"},
	{Code: JobHeldAdmin, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob | CreatesNothing, Slurm: "JobHeldAdmin",
		Sentence: "the job is held by an administrator",
		Hint:     "ask an administrator to release the job"},
	{Code: BeginTime, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob | CreatesNothing, Slurm: "BeginTime",
		Sentence: "the job's begin time has not been reached",
		Hint:     "wait until the begin time, or change the annotation vc-batch.dev/begin"},
	{Code: Dependency, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob | CreatesNothing, Slurm: "Dependency",
		Sentence: "the job waits for other jobs",
		Hint:     "wait for these jobs, or change the annotation vc-batch.dev/dependency"},
	{Code: DependencyNeverSatisfied, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob | CreatesNothing, Slurm: "DependencyNeverSatisfied",
		Sentence: "the job's dependency can never be satisfied",
		Hint:     "change the annotation vc-batch.dev/dependency, or delete the job"},
	{Code: GateInvalid, Step: AtGate, Pod: NotOfPods, Traits: DelaysJob, Slurm: "BadConstraints",
		Sentence: "an annotation that controls the job's start is invalid",
		Hint:     "correct the annotation"},
	{Code: JobArrayTaskLimit, Step: AtGate, Pod: NotOfPods, Slurm: "JobArrayTaskLimit",
		Sentence: "the maximum number of array tasks is already running",
		Hint:     "wait until an array task ends, or raise the annotation vc-batch.dev/array-limit"},
}

// failing lists the reasons why a job failed, by the first of its failed pods.
var failing = []Reason{
	{Code: PodFailed, Step: AtNodes, Pod: NotOfPods, SlurmState: "F", Slurm: "NonZeroExitCode",
		Sentence: "a pod failed",
		Hint:     "read the pod's logs (vcctl job logs)"},
	{Code: DeadlineExceeded, Step: AtNodes, Pod: NotOfPods, SlurmState: "TO", Slurm: "TimeLimit",
		Sentence: "a pod exceeded its time limit",
		Hint:     "raise activeDeadlineSeconds, or give each pod less work"},
	{Code: StartError, Step: AtNodes, Pod: NotOfPods, SlurmState: "BF", Slurm: "JobLaunchFailure",
		Sentence: "a container could not start",
		Hint:     "correct the container's command or image"},
	{Code: OOMKilled, Step: AtNodes, Pod: NotOfPods, SlurmState: "OOM", Slurm: "OutOfMemory",
		Sentence: "a container exceeded its memory limit",
		Hint:     "raise the container's memory limit"},
	{Code: Evicted, Step: AtNodes, Pod: NotOfPods, SlurmState: "NF", Slurm: "NodeFail",
		Sentence: "a pod was evicted because its node ran short of resources or was drained",
		Hint:     "request as many resources as the pod uses, and add a policy that restarts the job"},
	{Code: Preempted, Step: AtNodes, Pod: NotOfPods, SlurmState: "PR", Slurm: "Preempted",
		Sentence: "a pod was preempted",
		Hint:     "nothing is wrong with the job: add a policy that restarts it, or raise its priority"},
	{Code: NodeStopped, Step: AtNodes, Pod: NotOfPods, SlurmState: "NF", Slurm: "NodeDown",
		Sentence: "the node was stopped while a pod was running",
		Hint:     "submit the job again, or add a policy that restarts it"},
	{Code: PodRefused, Step: AtNodes, Pod: NotOfPods, SlurmState: "BF", Slurm: "JobLaunchFailure",
		Sentence: "nodes repeatedly rejected pods that were bound to them",
		Hint:     "check which other programs place pods on these nodes, and read the kubelet logs of the nodes"},
}

// derived lists the reasons that programs derive from the state of a job. They are never stored, and their hints depend
// on the job.
var derived = []Reason{
	{Code: NoPodGroup, Step: AtSubmit, Pod: NotOfPods, Traits: Derived, Slurm: noReason,
		Sentence: "no controller has processed the job yet",
		Hint:     "if this takes a long time, check that the controller is running (vcd controllers)"},
	{Code: Submitted, Step: AtAdmission, Pod: NotOfPods, Traits: Derived, Slurm: noReason,
		Sentence: "the scheduler has not processed the job yet",
		Hint:     "if this takes a long time, check that the scheduler is running (vcd scheduler)"},
	{Code: Starting, Step: AtStart, Pod: NotOfPods, Traits: Derived, Slurm: "Prolog",
		Sentence: "the pods are assigned to nodes and are starting"},
	{Code: Suspended, Step: AtGate, Pod: NotOfPods, Traits: Derived, Slurm: "PodsReleased",
		Sentence: "the job is suspended; its pods are stopped",
		Hint:     "vcctl job resume NAME"},
	{Code: NoPodRuns, Step: AtStart, Pod: NotOfPods, Traits: Derived, Slurm: noReason,
		Sentence: "the job has started, but none of its pods is running"},
}

// Table lists all reasons, in the order of the documentation.
var Table = slices.Concat(waiting, rejecting, sparing, delaying, failing, derived)
