package main

import (
	"runtime/metrics"
	"testing"
)

func TestTheHeapGrowsWithTheWork(t *testing.T) {
	const live = 160 << 20
	p := pace{percent: gcPercentIdle}
	collections := uint64(0)
	look := func(seconds int, each uint64) {
		for range seconds {
			collections += each
			p = p.nextPace(collections, live)
		}
	}
	for _, step := range []struct {
		what    string
		seconds int
		each    uint64
		want    int
	}{
		{"at rest", 30, 0, 60},
		{"one collection is not work", 1, 1, 60},
		{"and forgotten soon", 5, 0, 60},
		{"collections second after second are", 2, 3, 160},
		{"a lull does not end it", 9, 0, 160},
		{"nor do more of them change it", 20, 1, 160},
		{"quiet does", 10, 0, 60},
		{"and work begins again", 2, 1, 160},
	} {
		if look(step.seconds, step.each); p.percent != step.want {
			t.Errorf("%s: %d %%, want %d", step.what, p.percent, step.want)
		}
	}
}

func TestALargeHeapGrowsNoFurtherForWork(t *testing.T) {
	for live, want := range map[uint64]int{0: 130, 10 << 20: 200, 128 << 20: 200, 256 << 20: 100, 500 << 20: 60, 10 << 30: 60} {
		if got := busyPercent(live); got != want {
			t.Errorf("%d MiB: %d %%, want %d", live>>20, got, want)
		}
	}
}

func TestTheRuntimeTellsWhatThePaceFollowsFrom(t *testing.T) {
	seen := paceSamples()
	metrics.Read(seen)
	for _, s := range seen {
		if s.Value.Kind() != metrics.KindUint64 {
			t.Errorf("%s is no number", s.Name)
		}
	}
}
