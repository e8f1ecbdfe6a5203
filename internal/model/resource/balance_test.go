package resource

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

// TestWide compares 128-bit sums with sums of package big.
func TestWide(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		var w wide
		want := new(big.Int)
		for _, v := range rapid.SliceOf(rapid.Int64Range(-MaxSum, MaxSum)).Draw(t, "values") {
			w.add(v)
			want.Add(want, big.NewInt(v))
			bounded := min(max(want.Int64(), 0), MaxSum)
			if !want.IsInt64() {
				bounded = MaxSum * int64(max(want.Sign(), 0))
			}
			if got := w.boundedSum(); got != bounded {
				t.Fatalf("%s is read as %d, want %d", want, got, bounded)
			}
		}
	})
}
