package cgroup

import (
	"strconv"

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
	if limits.MilliCPURequest == 0 {
		limits.MilliCPURequest = limits.MilliCPU
	}
	return limits
}

// setting is a value for a file of a group. It may be impossible to write an optional setting.
type setting struct {
	file     string
	value    string
	optional bool
}

// memorySettings and cpuSettings return the settings for a version of control groups.
func memorySettings(version int, limits Limits) []setting {
	if limits.MemoryBytes == 0 {
		return nil
	}
	bytes := strconv.FormatInt(limits.MemoryBytes+initBytes, 10)
	if version == 1 {
		return []setting{{"memory.limit_in_bytes", bytes, false}, {"memory.memsw.limit_in_bytes", bytes, true}}
	}
	return []setting{{"memory.max", bytes, false}, {"memory.swap.max", "0", true}}
}

func cpuSettings(version int, limits Limits) []setting {
	var settings []setting
	if limits.MilliCPU > 0 {
		quota := max(limits.MilliCPU*periodMicros/1000, 1000)
		if version == 1 {
			settings = append(settings, setting{"cpu.cfs_period_us", strconv.Itoa(periodMicros), true},
				setting{"cpu.cfs_quota_us", strconv.FormatInt(quota, 10), false})
		} else {
			settings = append(settings, setting{"cpu.max", strconv.FormatInt(quota, 10) + " " + strconv.Itoa(periodMicros), false})
		}
	}
	if limits.MilliCPURequest > 0 {
		shares := min(max(limits.MilliCPURequest*1024/1000, 2), 262144)
		if version == 1 {
			settings = append(settings, setting{"cpu.shares", strconv.FormatInt(shares, 10), true})
		} else {
			// The kernel maps weights from 1 to 10000 to shares from 2 to 262144.
			settings = append(settings, setting{"cpu.weight", strconv.FormatInt(1+(shares-2)*9999/262142, 10), true})
		}
	}
	return settings
}
