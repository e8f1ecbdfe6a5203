package easy

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGeneratorMatchesPublishedQuantiles compares samples of 10,000 jobs with the output of Lublin's own program for
// one type of jobs.
func TestGeneratorMatchesPublishedQuantiles(t *testing.T) {
	const n = 10_000
	within := func(t *testing.T, what string, have, low, high float64) {
		t.Helper()
		if have < low || have > high {
			t.Errorf("%s is %.3f, want %.3f to %.3f", what, have, low, high)
		}
	}
	var gaps []int
	for seed := range uint64(5) {
		jobs := OneType(5.5, 8).Generate(rand.New(rand.NewPCG(seed, 1)), n)
		var serial, powers, procs, logProcs, logRun float64
		for i, j := range jobs {
			switch {
			case j.Procs == 1:
				serial++
			case bits.OnesCount(uint(j.Procs)) == 1:
				powers++
			}
			procs += float64(j.Procs)
			logProcs += math.Log2(float64(j.Procs))
			logRun += math.Log(float64(j.Run))
			if i > 0 {
				gaps = append(gaps, j.Submit-jobs[i-1].Submit)
			}
		}
		// The ranges are those of a few samples, with a margin for another sample.
		within(t, "share of serial jobs", serial/n, .232, .256)
		within(t, "share of powers of two above one", powers/n, .605, .633)
		within(t, "mean processors", procs/n, 21, 23.5)
		within(t, "mean log2 of processors", logProcs/n, 2.68, 2.81)
		within(t, "mean ln of the run time", logRun/n, 5.6, 5.8)
	}
	slices.Sort(gaps)
	for percent, want := range map[int]float64{10: 18, 25: 41, 50: 115, 75: 373, 90: 1221, 95: 2647} {
		within(t, "quantile of the gaps", float64(gaps[len(gaps)*percent/100]), want*.88, want*1.12)
	}
}

// TestLoadedSetsTheLoad checks that a trace has the requested load.
func TestLoadedSetsTheLoad(t *testing.T) {
	for _, load := range []float64{.7, 1.2} {
		jobs := Loaded(OneType(3.5, 6).Generate(rand.New(rand.NewPCG(1, 1)), 500), 64, load)
		work, last := 0.0, jobs[len(jobs)-1].Submit
		for _, j := range jobs {
			work += float64(j.Procs * j.Run)
		}
		if have := work / float64(64*last); math.Abs(have-load) > .01 {
			t.Errorf("the load is %.3f, want %.1f", have, load)
		}
	}
}
