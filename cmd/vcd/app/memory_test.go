package app

import "testing"

func TestASmallHeapGrowsByAFixedAmountAndALargeOneByItsOwnSize(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 800, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 1 << 30: 80} {
		if got := percentForHeap(live); got != want {
			t.Errorf("%d MiB live: %d%%, want %d%%", live>>20, got, want)
		}
	}
}
