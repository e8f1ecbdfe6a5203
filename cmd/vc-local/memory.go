package main

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A start makes much garbage, and collecting it takes a good part of its time:
// 130 takes 0.2 s longer than 200, and its peak is 530 MiB instead of 620;
// afterwards most of the heap is caches that live on, and nobody wants them twice.
// While there is work to do it is as at the start: collections after every third
// of so small a heap take a third of what a request costs, so it may grow by
// busyGrowth, and gives it back when there is quiet.
const (
	gcPercentStarting = 130
	gcPercentIdle     = 60
	gcPercentMost     = 200
	busyGrowth        = 256 << 20

	paceLook = time.Second
	// busyLooks in a row with a collection each are work, calmLooks without one are quiet: at rest there is one in half a minute.
	busyLooks = 2
	calmLooks = 10
)

// tuneMemory obeys $GOGC and $GOMEMLIMIT as they are.
func tuneMemory(percent int) {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(percent)
	}
}

// settleMemory ends the lavish time of the start, and then follows the work until the process ends.
func settleMemory() {
	tuneMemory(gcPercentIdle)
	debug.FreeOSMemory()
	seen := paceSamples()
	metrics.Read(seen)
	p := pace{collections: seen[0].Value.Uint64(), percent: gcPercentIdle}
	for range time.Tick(paceLook) {
		metrics.Read(seen)
		before := p.percent
		if p = p.next(seen[0].Value.Uint64(), seen[1].Value.Uint64()); p.percent == before {
			continue
		}
		tuneMemory(p.percent)
		if p.percent == gcPercentIdle {
			debug.FreeOSMemory()
		}
	}
}

// paceSamples are what the pace follows from: collections since the start, and bytes that the last one left.
func paceSamples() []metrics.Sample {
	return []metrics.Sample{{Name: "/gc/cycles/automatic:gc-cycles"}, {Name: "/gc/heap/live:bytes"}}
}

// pace is how far the heap may grow between two collections, and what that follows from.
type pace struct {
	collections uint64 // of the garbage, until the last look
	with        int    // looks in a row that saw a collection
	without     int    // looks in a row that saw none
	percent     int
}

// next is the pace after a look that sees so many collections since the start, and a heap of so many bytes in use.
func (p pace) next(collections, live uint64) pace {
	if collections > p.collections {
		p.with, p.without = p.with+1, 0
	} else {
		p.with, p.without = 0, p.without+1
	}
	p.collections = collections
	switch {
	case p.without >= calmLooks:
		p.percent = gcPercentIdle
	case p.with >= busyLooks && p.percent == gcPercentIdle:
		p.percent = busyPercent(live)
	}
	return p
}

// busyPercent lets a heap grow by busyGrowth, but no small one by more than gcPercentMost and none by less than at rest.
func busyPercent(live uint64) int {
	if live == 0 {
		return gcPercentStarting
	}
	return int(min(max(busyGrowth*100/live, gcPercentIdle), gcPercentMost))
}
