package cgroup

import (
	"cmp"
	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
)

// initBytes is added to each memory limit, because the container's init is in the same group.
const initBytes = 8 << 20

// periodMicros is the period of the cpu quota.
const periodMicros = 100_000

// Limits holds a container's limits; 0 means unlimited.
type Limits struct {
	MemoryBytes     int64
	MilliCPU        int64
	MilliCPURequest int64
}

// LimitsOf returns the limits in a container's resources.
func LimitsOf(resources corev1.ResourceRequirements) Limits {
	limits := Limits{
		MemoryBytes:     resources.Limits.Memory().Value(),
		MilliCPU:        resources.Limits.Cpu().MilliValue(),
		MilliCPURequest: resources.Requests.Cpu().MilliValue(),
	}
	limits.MilliCPURequest = cmp.Or(limits.MilliCPURequest, limits.MilliCPU)
	return limits
}

// limitedResources returns the settings of a group. noSwap keeps the container from using swap space.
func limitedResources(limits Limits, noSwap bool) *cgroups.Resources {
	resources := &cgroups.Resources{SkipDevices: true}
	if limits.MemoryBytes > 0 {
		resources.Memory = limits.MemoryBytes + initBytes
		if noSwap {
			resources.MemorySwap = resources.Memory
		}
	}
	if limits.MilliCPU > 0 {
		resources.CpuPeriod = periodMicros
		resources.CpuQuota = max(limits.MilliCPU*periodMicros/1000, 1000)
	}
	if limits.MilliCPURequest > 0 {
		shares := uint64(min(max(limits.MilliCPURequest*1024/1000, 2), 262144))
		resources.CpuShares = shares // for version 1
		// Version 2 uses the kubelet's formula for pods. The formula is linear, so containers share the processors in
		// the ratio of their requests. This would not be the case with ConvertCPUSharesToCgroupV2Value.
		resources.CpuWeight = 1 + (shares-2)*9999/262142
	}
	return resources
}
