package cycle

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

// TestTheHeapReturnsItsItemsInOrder also changes the order of all items between two of them.
func TestTheHeapReturnsItsItemsInOrder(t *testing.T) {
	propertytest.Check(t, 2000, func(t *rapid.T) {
		h := heap[int]{order: cmp.Compare[int]}
		var rest []int
		pop := func() {
			x, ok := h.pop()
			if !ok || x != rest[0] {
				t.Fatalf("%d, %t, want the first of %v", x, ok, rest)
			}
			rest = rest[1:]
		}
		for _, x := range rapid.SliceOfN(rapid.IntRange(0, 20), 0, 15).Draw(t, "items") {
			h.push(x)
			rest = append(rest, x)
			slices.Sort(rest)
			if rapid.IntRange(0, 3).Draw(t, "pop") == 0 {
				pop()
			}
		}
		h.order = func(a, b int) int { return cmp.Compare(b, a) }
		h.restoreHeap()
		slices.Reverse(rest)
		for len(rest) > 0 {
			pop()
		}
		if x, ok := h.pop(); ok {
			t.Fatalf("%d of an empty heap", x)
		}
	})
}
