package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestIndicesAreReadAsSlurmWritesThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":               "",
		"7":              "7",
		"0-15:4":         "0,4,8,12",
		"1,3,5-7":        "1,3,5-7",
		"5-7,6-9,10,2,2": "2,5-10",
		"3,2,1":          "1-3",
		"0-1000000":      "0-1000000",
	} {
		got, err := ParseIndices(text)
		if err != nil || got.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for text, word := range map[string]string{
		"a":         "is not a number",
		"1,":        "is not a number",
		"-3":        "is not a number",
		"1-":        "is not a number",
		"5-2":       "runs backwards: write 2-5",
		"3:2":       "has a step but no range",
		"0-9:0":     "step 0",
		"1-9%2":     "is not a number",
		"1000001":   "larger than the maximum of 1000000",
		"999999999": "larger than",
	} {
		if _, err := ParseIndices(text); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v; want %q in it", text, err, word)
		}
	}
}

func TestASetIsWhatASetOfNumbersIs(t *testing.T) {
	t.Parallel()
	draw := rapid.SliceOfN(rapid.Int32Range(0, 60), 0, 30)
	propertytest.Check(t, 2000, func(t *rapid.T) {
		in := func(numbers []int32) map[int32]bool {
			m := map[int32]bool{}
			for _, n := range numbers {
				m[n] = true
			}
			return m
		}
		xs, ys := draw.Draw(t, "x"), draw.Draw(t, "y")
		inX, inY := in(xs), in(ys)
		x, y := IndicesOf(slices.Clone(xs)), IndicesOf(slices.Clone(ys))
		union, minus := x.Union(y), x.Minus(y)
		for n := int32(0); n <= 61; n++ {
			if x.Has(n) != inX[n] || union.Has(n) != (inX[n] || inY[n]) || minus.Has(n) != (inX[n] && !inY[n]) {
				t.Fatalf("%d: %s, %s, %s, %s", n, x, y, union, minus)
			}
		}
		if x.Count() != len(inX) {
			t.Fatalf("%s has %d numbers", x, x.Count())
		}
		var places []int
		for i := range x.Positions(y) {
			places = append(places, i)
		}
		var want []int
		for n := range x.All() {
			if y.Has(n) {
				want = append(want, x.Position(n))
			}
		}
		if !slices.Equal(places, want) {
			t.Fatalf("%s in %s: %v, want %v", y, x, places, want)
		}
		position := 0
		for n := range x.All() {
			if at, ok := x.At(position); !ok || at != n || x.Position(n) != position {
				t.Fatalf("%s: %d is at %d", x, n, x.Position(n))
			}
			position++
		}
		if _, ok := x.At(position); ok || x.Position(61) != -1 {
			t.Fatalf("%s goes on after its end", x)
		}
		again, err := ParseIndices(minus.String())
		if err != nil || !slices.Equal(again, minus) {
			t.Fatalf("%s is read as %s, %v", minus, again, err)
		}
	})
}

func FuzzIndices(f *testing.F) {
	for _, seed := range []string{"0-15:4", "1,3,5-7", "0-1000000:3", ",", "7-7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseIndices(text)
		if err != nil {
			return
		}
		again, err := ParseIndices(s.String())
		if err != nil || !slices.Equal(again, s) {
			t.Fatalf("%q is %s, which is read as %s, %v", text, s, again, err)
		}
	})
}
