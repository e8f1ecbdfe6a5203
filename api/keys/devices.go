package keys

import corev1 "k8s.io/api/core/v1"

// Names of the resources for devices that pods share.
const (
	GPUMemory            corev1.ResourceName = "volcano.sh/gpu-memory"             // MiB of one card
	GPUNumber            corev1.ResourceName = "volcano.sh/gpu-number"             // number of whole cards
	VGPUNumber           corev1.ResourceName = "volcano.sh/vgpu-number"            // number of vGPUs, each on a different card
	VGPUMemory           corev1.ResourceName = "volcano.sh/vgpu-memory"            // MiB of each card
	VGPUMemoryPercentage corev1.ResourceName = "volcano.sh/vgpu-memory-percentage" // percentage of each card's memory
	VGPUCores            corev1.ResourceName = "volcano.sh/vgpu-cores"             // percentage of each card; 100 means exclusive use
)

// Annotations of nodes about their devices.
const (
	// VGPURegister lists a node's cards, each as uuid,count,memory,type,health,mode followed by a colon.
	VGPURegister = "volcano.sh/node-vgpu-register"
	// GPUUnhealthyIDs lists the indices of unhealthy cards, for example 0,2.
	GPUUnhealthyIDs = "volcano.sh/gpu-unhealthy-ids"
)

// Annotations of pods about devices: what a pod requires, and which devices are allocated to it.
const (
	VGPUUseType        = "nvidia.com/use-gputype"
	VGPUNoUseType      = "nvidia.com/nouse-gputype"
	VGPUUseUUID        = "volcano.sh/vgpu-use-gpuuuid"
	VGPUNoUseUUID      = "volcano.sh/vgpu-nouse-gpuuuid"
	VGPUMode           = "volcano.sh/vgpu-mode"
	VGPUPodGroupPolicy = "volcano.sh/vgpu-podgroup-policy"

	VGPUNode         = "volcano.sh/vgpu-node"
	VGPUTime         = "volcano.sh/vgpu-time"
	VGPUIDs          = "volcano.sh/vgpu-ids-new"
	VGPUToAllocate   = "volcano.sh/devices-to-allocate"
	DeviceBindPhase  = "volcano.sh/bind-phase"
	DeviceBindTime   = "volcano.sh/bind-time"
	GPUIndex         = "volcano.sh/gpu-index"
	GPUPredicateTime = "volcano.sh/predicate-time"
)

// NumaCPUs is the annotation of a pod that lists the CPUs that the scheduler assumes for each container, for example
// main=0-3;side=8. It applies until the kubelet's choice appears in the node's Numatopology.
const NumaCPUs = OurPrefix + "numa-cpus"

// Annotations of pods that influence the scoring of nodes.
const (
	StrategyType   = "volcano.sh/resource-strategy-scoring-type"
	StrategyWeight = "volcano.sh/resource-strategy-weight"
)

// Keys on nodes and queues that define and limit node groups.
const (
	NodeGroup       = "volcano.sh/nodegroup-name"
	NodeGroupLimits = "volcano.sh/nodegroup-resource-limits"
)

// HCCLRank is the annotation with the rank of a pod in collective communication on Ascend cards.
const HCCLRank = "hccl/rankIndex"
