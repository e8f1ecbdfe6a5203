package widget

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/test/propertytest"
)

func TestNumbersAreSqueezed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		w    int
		want string
	}{
		{"1429", 4, "1429"}, {"1429", 3, "1k"}, {"14290", 4, "14k"}, {"1429", 2, "1k"}, {"12,345", 5, "12.3k"}, {"2000000000", 5, "2G"},
		{"10240Gi", 5, "10Ti"}, {"5760Gi", 5, "5.6Ti"}, {"7d", 1, "7d"}, {"1429", 1, "1429"}, {"99999", 3, "99999"}, {"999999", 4, "1M"}, {"-", 0, "-"},
	} {
		if got := ShortenNumber(tc.text, tc.w); got != tc.want {
			t.Errorf("%s in %d cells is %s, want %s", tc.text, tc.w, got, tc.want)
		}
	}
}

// Any count fits into four cells without a cut.
func TestFourCellsHoldAnyCount(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 100, func(t *rapid.T) {
		n := rapid.IntRange(0, 1e14).Draw(t, "n")
		if text := ShortenNumber(FormatCount(n), 4); canvas.Width(text) > 4 {
			t.Fatalf("%d is %s", n, text)
		}
	})
}
