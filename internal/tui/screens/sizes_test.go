package screens_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

// TestFramesOfClusterSizes draws the main screens for 4, 60 and 5,000 nodes in all terminal sizes.
func TestFramesOfClusterSizes(t *testing.T) {
	stops := []tuitest.Stop{
		{Title: "overview", Keys: []string{"1"}}, {Title: "jobs", Keys: []string{"2"}}, {Title: "queues", Keys: []string{"3"}},
		{Title: "nodes", Keys: []string{"4"}}, {Title: "heat map", Keys: []string{"H"}},
	}
	for _, world := range []string{"few", "nodes60", "nodes5000"} {
		t.Run(world, func(t *testing.T) {
			tuitest.CompareTour(t, "size-"+world, screens.AllScreenSpecs(), world, "mono", tuitest.Sizes, stops...)
		})
	}
}
