package app

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A small heap is collected only after it has grown by smallHeap. By default, Go would collect a heap with 25 MB of
// caches each time it has grown by 25 MB, which takes a sixth of the CPU time of binding.
const (
	smallHeap  = 64 << 20
	tunePeriod = 5 * time.Second
)

// tuneMemory adapts the target percentage of the garbage collector to the size of the heap until ctx is done. It does
// nothing if $GOGC or $GOMEMLIMIT is set.
func tuneMemory(ctx context.Context) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	ticker := time.NewTicker(tunePeriod)
	defer ticker.Stop()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	last := 0
	for {
		metrics.Read(live)
		if percent := percentForHeap(live[0].Value.Uint64()); percent != last {
			debug.SetGCPercent(percent)
			last = percent
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// percentForHeap returns the percentage that lets a heap with the specified number of live bytes grow by smallHeap, or
// by 80% if the heap is large.
func percentForHeap(live uint64) int {
	const least, most = 80, 800
	if live == 0 {
		return most / 2
	}
	return int(min(max(smallHeap*100/live, least), most))
}
