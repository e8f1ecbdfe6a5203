package whatif

import (
	"os"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// TestForkCeiling measures how long the loop stands still while the model is copied for a plan, and how long a fresh
// engine takes with the copy. It runs with VC_BENCH=1 only.
func TestForkCeiling(t *testing.T) {
	if os.Getenv("VC_BENCH") == "" {
		t.Skip("set VC_BENCH=1 (make bench) to measure")
	}
	for _, nodes := range []int{500, 2000, 5000} {
		c, queues := busy(nodes, 1000)
		cfg, _, err := config.Parse([]byte(configurations["with preemption and reclaim"]))
		if err != nil {
			t.Fatal(err)
		}
		live, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		d := live.Cycle(make.Epoch, c)
		decision.Assume(c, &d)
		best, slices := time.Hour, time.Duration(0)
		for range 3 {
			began := time.Now()
			copied := c.Fork()
			best = min(best, time.Since(began))
			thinker, err := scheduler.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			simulationOf(t, queues, "b", "3", 20).RunAllSlices(make.Epoch.Add(time.Minute), thinker, copied)
			slices = time.Since(began)
		}
		t.Logf("BENCH\tplan, copy of the model\t%d\t%.4g\tms", nodes, best.Seconds()*1000)
		t.Logf("BENCH\tplan, answer of a fresh engine\t%d\t%.4g\tms", nodes, slices.Seconds()*1000)
	}
}
