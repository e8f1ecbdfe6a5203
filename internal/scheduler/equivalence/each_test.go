package equivalence

import (
	"math/rand"
	"slices"
	"testing"
)

func TestEachVisitsTheLeavesAboveTheBoundInOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 3, 63, 64, 65, 1000} {
		tree := over(make([]int32, 2*rounded(n)), n)
		for leaf := range n {
			if random.Intn(10) == 0 {
				tree.put(leaf, int32(random.Intn(5)))
			}
		}
		tree.decide()
		var all, rising, wantAll, wantRising []int
		best := unfit
		for leaf := range n {
			if tree.at(leaf) != unfit {
				wantAll = append(wantAll, leaf)
			}
			if tree.at(leaf) > best {
				best, wantRising = tree.at(leaf), append(wantRising, leaf)
			}
		}
		tree.each(unfit, func(leaf int, _ int32) int32 { all = append(all, leaf); return unfit })
		tree.each(unfit, func(leaf int, value int32) int32 { rising = append(rising, leaf); return value })
		if !slices.Equal(all, wantAll) || !slices.Equal(rising, wantRising) {
			t.Errorf("%d leaves: visited %v, want %v; above the best so far %v, want %v", n, all, wantAll, rising, wantRising)
		}
	}
}
