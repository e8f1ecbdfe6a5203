package live

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// heapGrowth is by how much of what is kept the heap may grow before it is cleared up: what is known of a large cluster is
// most of it, and stays.
const heapGrowth = 20

// enough is what the heap may take in any case, in bytes: with the program itself, of which some 75 MB are resident, less
// than 300 MB. What is known of 5,000 nodes, 10,000 jobs and 100,000 pods takes half of it.
const enough = 205 << 20

// mostHeap is the bound of the heap with so much in it that is kept, in bytes. While lists come in, what they leave behind
// would be cleared up late otherwise; a cluster that needs more has more.
func mostHeap(kept uint64) int64 {
	return max(enough, int64(kept/10*13)+40<<20) //nolint:gosec // no memory is as large
}

// settle is how long after the last list memory is given back.
const settle = 3 * time.Second

// apart is how long after memory was given back it is at the earliest again: it takes a tenth of a second of a processor.
const apart = 30 * time.Second

// memory bounds what the heap takes by what is kept in it.
type memory struct {
	bound int64
	kept  []metrics.Sample
}

// newMemory bounds the heap of the whole program; who set GOMEMLIMIT knows better.
func newMemory() *memory {
	debug.SetGCPercent(heapGrowth)
	m := &memory{kept: []metrics.Sample{{Name: "/gc/heap/live:bytes"}}}
	m.follow()
	return m
}

// follow moves the bound when what is kept has grown or become less: to move it stops the program for a moment.
func (m *memory) follow() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	metrics.Read(m.kept)
	if m.kept[0].Value.Kind() != metrics.KindUint64 {
		return
	}
	if bound := mostHeap(m.kept[0].Value.Uint64()); bound > m.bound || bound < m.bound/10*8 {
		m.bound = bound
		debug.SetMemoryLimit(bound)
	}
}
