package processnode

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

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
	u.keepPeak(container, use)
	return true
}

// keepPeak keeps the peak of a container's memory. A later measurement can be lower, because the kernel counts page cache
// that it could free only at the time of the measurement.
func (u *podUse) keepPeak(container string, use cgroup.Use) {
	if use.PeakMemoryBytes == nil {
		return
	}
	if u.peaks == nil {
		u.peaks = map[string]int64{}
	}
	u.peaks[container] = max(u.peaks[container], *use.PeakMemoryBytes)
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

// clone returns a copy that changes do not affect.
func (u *podUse) clone() *podUse {
	return &podUse{before: u.before, cpu: u.cpu, peaks: maps.Clone(u.peaks)}
}

// usedBefore returns the use that an earlier process of the node wrote to a pod. A pod that no node has accepted yet has used
// nothing, whatever its annotation contains.
func usedBefore(pod *corev1.Pod) podusage.Use {
	if pod.Status.StartTime == nil {
		return podusage.Use{}
	}
	use, _ := podusage.Of(pod)
	return use
}

// PublishUses writes the current use of running pods to their annotations, for at most limit pods, and first for the
// pods whose use was written longest ago. So a node with many pods writes no more often than a node with few.
func (n *Node) PublishUses(limit int) {
	n.mu.Lock()
	workers := make([]*worker, 0, len(n.workers))
	for _, w := range n.workers {
		workers = append(workers, w)
	}
	n.mu.Unlock()
	slices.SortFunc(workers, func(a, b *worker) int {
		return cmp.Or(cmp.Compare(a.publishedAt.Load(), b.publishedAt.Load()), cmp.Compare(a.uid, b.uid))
	})
	for _, w := range workers {
		if limit == 0 {
			return
		}
		if len(w.runningAttempts()) == 0 {
			continue
		}
		limit--
		w.publishedAt.Store(time.Now().UnixNano())
		w.postToWorker(w.publishUse)
	}
}

// publishUse writes the use of the pod so far to the pod's annotation, unless it is the same as before.
func (w *worker) publishUse() {
	use, isMeasured := w.use.clone(), false
	for _, a := range w.runningAttempts() {
		measured := a.group.ReadUse()
		w.use.keepPeak(a.spec.Name, measured)
		if use.add(a.spec.Name, measured) {
			isMeasured = true
		}
	}
	if isMeasured {
		w.writer.publishUse(use.total())
	}
}

// addUse adds the use of a container's attempt to the use that is written with the next status.
func (w *worker) addUse(container string, use cgroup.Use) {
	if w.use.add(container, use) {
		w.writer.setUse(w.use.total())
	}
}
