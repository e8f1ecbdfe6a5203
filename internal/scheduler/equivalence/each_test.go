package equivalence

import (
	"math/rand"
	"slices"
	"testing"
)

func TestEachVisitsTheLeavesAboveTheBoundInOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, n := range []int{1, 2, 3, 63, 64, 65, 1000} {
		tree := newTournament(make([]int32, 2*leafCount(n)), n)
		for leaf := range n {
			if random.Intn(10) == 0 {
				tree.storeLeaf(leaf, int32(random.Intn(5)))
			}
		}
		tree.updateMaximums()
		var all, rising, wantAll, wantRising []int
		best := unfit
		for leaf := range n {
			if tree.leafValue(leaf) != unfit {
				wantAll = append(wantAll, leaf)
			}
			if tree.leafValue(leaf) > best {
				best, wantRising = tree.leafValue(leaf), append(wantRising, leaf)
			}
		}
		tree.eachAbove(unfit, func(leaf int, _ int32) int32 { all = append(all, leaf); return unfit })
		tree.eachAbove(unfit, func(leaf int, value int32) int32 { rising = append(rising, leaf); return value })
		if !slices.Equal(all, wantAll) || !slices.Equal(rising, wantRising) {
			t.Errorf("%d leaves: visited %v, want %v; above the best so far %v, want %v", n, all, wantAll, rising, wantRising)
		}
	}
}
