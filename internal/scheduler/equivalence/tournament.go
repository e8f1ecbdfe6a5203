package equivalence

import "math/bits"

// unfit is the score of a node on which the shape does not fit.
const unfit = int32(-1)

// tournament is a binary tree that maintains the maximum of a list of values. values[size:] are the leaves, every
// inner value is the maximum of its two children, and values[1] is the overall maximum.
type tournament struct {
	values []int32
	size   int
}

// leafCount returns the number of leaves in a tournament of n values, which is the next power of two.
func leafCount(n int) int { return 1 << bits.Len(uint(max(n-1, 0))) }

// newTournament returns a tournament of n values, all unfit. It uses the given 2*leafCount(n) cells.
func newTournament(cells []int32, n int) tournament {
	for i := range cells {
		cells[i] = unfit
	}
	return tournament{values: cells, size: leafCount(n)}
}

func (t *tournament) leafValue(i int) int32 { return t.values[t.size+i] }

func (t *tournament) topValue() int32 { return t.values[1] }

// setLeaf changes a leaf and updates the inner values above it.
func (t *tournament) setLeaf(leaf int, value int32) {
	i := t.size + leaf
	if t.values[i] == value {
		return
	}
	t.values[i] = value
	for i /= 2; i >= 1; i /= 2 {
		best := max(t.values[2*i], t.values[2*i+1])
		if t.values[i] == best {
			return
		}
		t.values[i] = best
	}
}

// storeLeaf changes a leaf without updating inner values. Call updateMaximums afterwards.
func (t *tournament) storeLeaf(leaf int, value int32) { t.values[t.size+leaf] = value }

// updateMaximums recomputes all inner values from the leaves.
func (t *tournament) updateMaximums() {
	for i := t.size - 1; i >= 1; i-- {
		t.values[i] = max(t.values[2*i], t.values[2*i+1])
	}
}

// blockLeaves is the number of leaves in a block, which eachAbove can skip as a whole.
const blockLeaves = 64

// eachAbove visits, in order, the leaves whose value is higher than above. visit returns the new bound for the
// remaining leaves. A block without such a leaf costs only one comparison.
func (t *tournament) eachAbove(above int32, visit func(leaf int, value int32) (above int32)) {
	width := min(blockLeaves, t.size)
	for block := t.size; block < 2*t.size; block += width {
		if t.values[block/width] <= above {
			continue
		}
		for i, value := range t.values[block : block+width] {
			if value > above {
				above = visit(block-t.size+i, value)
			}
		}
	}
}

// firstMaximum returns the index of the first leaf with the maximum value.
func (t *tournament) firstMaximum() int {
	i := 1
	for i < t.size {
		i *= 2
		if t.values[i] < t.values[i+1] {
			i++
		}
	}
	return i - t.size
}
