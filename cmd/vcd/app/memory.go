package app

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// While the heap is small it is collected only once it has grown by smallHeap:
// with 25 MB of caches Go's own rule would collect after every 25 MB, which takes a
// sixth of the processor time of binding.
const (
	smallHeap  = 64 << 20
	tunePeriod = 5 * time.Second
)

// tuneMemory keeps the collector's percentage in step with the heap until ctx is
// done. $GOGC and $GOMEMLIMIT are obeyed as they are.
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
		if percent := percentFor(live[0].Value.Uint64()); percent != last {
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

// percentFor lets a heap of so many live bytes grow by smallHeap, a large one by
// four fifths of itself.
func percentFor(live uint64) int {
	const least, most = 80, 800
	if live == 0 {
		return most / 2
	}
	return int(min(max(smallHeap*100/live, least), most))
}
