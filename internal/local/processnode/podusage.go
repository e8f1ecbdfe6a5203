package processnode

import (
	"time"

	"github.com/vc-batch/vc/internal/local/processnode/cgroup"
	"github.com/vc-batch/vc/internal/podusage"
)

// podUse sums up the use of a pod's containers.
type podUse struct {
	// before is the use that an earlier process of the node wrote to the pod.
	before podusage.Use
	cpu    time.Duration
	// peaks holds the peak of the memory of each container.
	peaks map[string]int64
}

// add adds the use of a container's attempt that has ended. ok is false if nothing was measured.
func (u *podUse) add(container string, use cgroup.Use) (ok bool) {
	if use.CPUTime == nil && use.PeakMemoryBytes == nil {
		return false
	}
	if use.CPUTime != nil {
		u.cpu += *use.CPUTime
	}
	if use.PeakMemoryBytes != nil {
		if u.peaks == nil {
			u.peaks = map[string]int64{}
		}
		u.peaks[container] = max(u.peaks[container], *use.PeakMemoryBytes)
	}
	return true
}

// total returns the use of all attempts of all containers.
func (u *podUse) total() podusage.Use {
	sum := u.before
	sum.CPUMilliseconds += u.cpu.Milliseconds()
	peak := int64(0)
	for _, bytes := range u.peaks {
		peak += bytes
	}
	sum.PeakMemoryBytes = max(sum.PeakMemoryBytes, peak)
	return sum
}

// addUse adds the use of a container's attempt to the use that is written with the next status.
func (w *worker) addUse(container string, use cgroup.Use) {
	if w.use.add(container, use) {
		w.writer.setUse(w.use.total())
	}
}
