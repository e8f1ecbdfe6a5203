package deploy

import "k8s.io/apimachinery/pkg/api/resource"

// Size is the request of one replica of a component. The memory is also its limit.
type Size struct {
	CPU       string
	MemoryMiB int64
}

// memory returns the memory as a quantity.
func (s Size) memory() resource.Quantity {
	return *resource.NewQuantity(s.MemoryMiB<<20, resource.BinarySI)
}

// The sizes of clusters. DefaultSize is the size in install.yaml.
const (
	SizeSmall   = "small"
	SizeMedium  = "medium"
	SizeLarge   = "large"
	DefaultSize = SizeLarge
)

// GoMemoryPercent is the part of the memory limit at which Go's garbage collector works harder.
const GoMemoryPercent = 90

// SizeLimits describes the largest cluster that each size was measured for.
var SizeLimits = map[string]string{
	SizeSmall: "500 nodes, 5,000 pods", SizeMedium: "2,000 nodes, 20,000 pods", SizeLarge: "5,000 nodes, 50,000 pods",
}

// Sizes holds the requests of the components by size of the cluster and service account. They follow from docs/performance.md.
// All components in one process use 89, 180 and 341 MiB of resident memory in clusters of these sizes. The scheduler requests
// about six times as much, and the controllers three times as much. A bound pod costs the scheduler 0.5 ms of CPU time, so that
// 100m, 250m and 500m are enough for 200, 500 and 1,000 pods a second. Accounting, which was not measured, watches the same jobs
// and pods as the controllers, and requests the same memory.
var Sizes = map[string]map[string]Size{
	SizeSmall: {
		AdmissionAccount: {"100m", 128}, ControllersAccount: {"100m", 256}, SchedulerAccount: {"100m", 512}, AccountingAccount: {"100m", 256},
	},
	SizeMedium: {
		AdmissionAccount: {"100m", 256}, ControllersAccount: {"200m", 512}, SchedulerAccount: {"250m", 1024}, AccountingAccount: {"100m", 512},
	},
	SizeLarge: {
		AdmissionAccount: {"100m", 256}, ControllersAccount: {"200m", 1024}, SchedulerAccount: {"500m", 2048}, AccountingAccount: {"200m", 1024},
	},
}
