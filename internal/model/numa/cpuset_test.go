package numa

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestCPUSetsAreSets(t *testing.T) {
	numbers := rapid.SliceOf(rapid.IntRange(0, 200))
	propertytest.Check(t, 10000, func(t *rapid.T) {
		a, b := numbers.Draw(t, "a"), numbers.Draw(t, "b")
		x, y := CPUs(a...), CPUs(b...)
		for cpu := range 201 {
			inA, inB := slices.Contains(a, cpu), slices.Contains(b, cpu)
			if x.Has(cpu) != inA || x.Union(y).Has(cpu) != (inA || inB) || x.And(y).Has(cpu) != (inA && inB) || x.Minus(y).Has(cpu) != (inA && !inB) {
				t.Fatalf("cpu %d of %s and %s", cpu, x, y)
			}
		}
		back, err := ParseCPUs(x.String())
		if err != nil || !back.Equal(x) || back.Len() != len(x.List()) {
			t.Fatalf("%s is read as %s (%v)", x, back, err)
		}
	})
}

func FuzzCPUs(f *testing.F) {
	for _, seed := range []string{"", "0-3,8", "3-1", "-1", "0-99999999999999999999", "a", "1,,2", " 1 - 2 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseCPUs(text)
		if err == nil && s.Len() > maxCPU {
			t.Errorf("%q has %d cpus", text, s.Len())
		}
	})
}
