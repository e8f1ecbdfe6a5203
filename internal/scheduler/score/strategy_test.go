package score

import (
	"testing"

	"github.com/vc-batch/vc/api/keys"
)

func TestThePrefixThatIsLongestCounts(t *testing.T) {
	s := Strategy{}
	terms := map[string]Term{"nvidia.com/*": {Weight: 1}, "nvidia.com/gpu*": {Weight: 2}, "nvidia.com/gpu": {Weight: 3}, "*": {Weight: 9}}
	for name, want := range map[string]float64{"nvidia.com/gpu": 3, "nvidia.com/gpu-a100": 2, "nvidia.com/other": 1, "cpu": 0} {
		if got, ok := s.findTerm(terms, name); got.Weight != want || ok != (want > 0) {
			t.Errorf("%s: weight %g, want %g", name, got.Weight, want)
		}
	}
}

func FuzzOverride(f *testing.F) {
	for _, seed := range [][2]string{{"LeastAllocated", `{"cpu":1}`}, {"MostAllocated", ""}, {"Other", "{}"}, {"LeastAllocated", `{"cpu":-5}`}, {"LeastAllocated", `{"cpu":1e99}`}, {"MostAllocated", "null"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, kind, weights string) {
		own, given, err := ParseOverride(map[string]string{keys.StrategyType: kind, keys.StrategyWeight: weights})
		if !given || err == nil && kind != LeastAllocated && kind != MostAllocated {
			t.Errorf("%q %q: %v", kind, weights, err)
		}
		for name, term := range own {
			if term.Weight < 1 {
				t.Errorf("%q: %s weighs %g", weights, name, term.Weight)
			}
		}
	})
}
