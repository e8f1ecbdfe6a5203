package render

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestNamesAreOrderedByTheNumbersInThem(t *testing.T) {
	t.Parallel()
	names := []string{"trial-10", "trial-2", "trial-02", "trial", "eval-1", "trial-2-b", "trial-2-a", "trial-1"}
	slices.SortFunc(names, CompareNatural)
	want := []string{"eval-1", "trial", "trial-1", "trial-02", "trial-2", "trial-2-a", "trial-2-b", "trial-10"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheOrderOfNamesIsTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ab0-2-]{0,5}`)
		a, b, c := name.Draw(t, "a"), name.Draw(t, "b"), name.Draw(t, "c")
		if CompareNatural(a, b) != -CompareNatural(b, a) || (CompareNatural(a, b) == 0) != (a == b) {
			t.Fatalf("%q against %q: %d, the other way %d", a, b, CompareNatural(a, b), CompareNatural(b, a))
		}
		if CompareNatural(a, b) <= 0 && CompareNatural(b, c) <= 0 && CompareNatural(a, c) > 0 {
			t.Fatalf("%q, %q, %q", a, b, c)
		}
	})
}
