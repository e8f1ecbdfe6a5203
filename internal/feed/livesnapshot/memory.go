package livesnapshot

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapGrowth is the percentage by which the heap may exceed the live data before a garbage collection. It can be small
// because most of the heap is live data on a large cluster.
const heapGrowth = 20

// minLimit is the heap size, in bytes, that is always allowed. Together with the program itself, of which about 75 MB
// are resident, this is less than 300 MB. The data of 5,000 nodes, 10,000 jobs and 100,000 pods takes half of this heap
// size.
const minLimit = 205 << 20

// memoryLimitFor returns the memory limit for the given amount of live data, both in bytes. Without a limit, garbage
// from incoming lists would be collected too late. The limit grows with the data of the cluster.
func memoryLimitFor(kept uint64) int64 {
	return max(minLimit, int64(kept/10*13)+15<<20) //nolint:gosec // no machine has that much memory
}

// returnDelay is the time between the last list or change and the return of memory to the system.
const returnDelay = 3 * time.Second

// returnInterval is the minimum time between two returns of memory to the system, because each of them takes a tenth of
// a second of CPU time.
const returnInterval = 30 * time.Second

// memory limits the heap in proportion to the live data.
type memory struct {
	bound int64
	kept  []metrics.Sample
}

// newMemory limits the heap of the whole program. GOMEMLIMIT, if set, takes precedence.
func newMemory() *memory {
	debug.SetGCPercent(heapGrowth)
	m := &memory{kept: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	m.adjustLimit()
	return m
}

// adjustLimit adjusts the limit when the amount of live data has changed enough. It does not do so more often, because
// each adjustment stops the program for a moment.
func (m *memory) adjustLimit() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	metrics.Read(m.kept)
	if m.kept[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	if bound := memoryLimitFor(m.kept[0].Value.Uint64()); bound > m.bound || bound < m.bound/10*8 {
		m.bound = bound
		debug.SetMemoryLimit(bound)
	}
}
