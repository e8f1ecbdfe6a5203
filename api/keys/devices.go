package keys

import corev1 "k8s.io/api/core/v1"

// Resources of devices that pods share.
const (
	GPUMemory            corev1.ResourceName = "volcano.sh/gpu-memory"             // MiB of one card
	GPUNumber            corev1.ResourceName = "volcano.sh/gpu-number"             // whole cards
	VGPUNumber           corev1.ResourceName = "volcano.sh/vgpu-number"            // parts of cards, each of another card
	VGPUMemory           corev1.ResourceName = "volcano.sh/vgpu-memory"            // MiB of each
	VGPUMemoryPercentage corev1.ResourceName = "volcano.sh/vgpu-memory-percentage" // of each card's memory
	VGPUCores            corev1.ResourceName = "volcano.sh/vgpu-cores"             // percent of each card; 100: alone on it
)

// On nodes, about devices.
const (
	// VGPURegister lists a node's cards: uuid,count,memory,type,health,mode: each.
	VGPURegister = "volcano.sh/node-vgpu-register"
	// GPUUnhealthyIDs lists cards that are out of order: 0,2.
	GPUUnhealthyIDs = "volcano.sh/gpu-unhealthy-ids"
)

// On pods, about devices: what they want, and what they were given.
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

// NumaCPUs is the annotation on a pod that says which cpus each container was counted with, until the kubelet's
// choice shows in the node's Numatopology: main=0-3;side=8.
const NumaCPUs = OurPrefix + "numa-cpus"

// On pods, about scoring nodes.
const (
	StrategyType   = "volcano.sh/resource-strategy-scoring-type"
	StrategyWeight = "volcano.sh/resource-strategy-weight"
)

// On nodes and queues, about groups of nodes.
const (
	NodeGroup       = "volcano.sh/nodegroup-name"
	NodeGroupLimits = "volcano.sh/nodegroup-resource-limits"
)

// HCCLRank is the annotation on a pod with its rank among those that compute together on Ascend cards.
const HCCLRank = "hccl/rankIndex"
