package screens_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

// allScreens visits all screens and ends on the pages of the first job.
var allScreens = []tuitest.Stop{
	{Title: "overview", Keys: []string{"1"}},
	{Title: "queues", Keys: []string{"3"}},
	{Title: "nodes", Keys: []string{"4"}},
	{Title: "heat map", Keys: []string{"H"}},
	{Title: "explain", Keys: []string{"5"}},
	{Title: "jobs", Keys: []string{"2"}},
	{Title: "a job", Keys: []string{"enter"}},
	{Title: "its events", Keys: []string{"e"}},
}

// The screens of users with few permissions, and of a cluster with HyperNodes.
func TestFramesOfRareWorlds(t *testing.T) {
	t.Parallel()
	for _, world := range []string{"own", "forbidden", "switches"} {
		tuitest.CompareTour(t, world, screens.AllScreenSpecs(), world, "mono", []tuitest.Size{{W: 120, H: 40}, {W: 60, H: 15}}, allScreens...)
	}
}

// Themes and numbers of colours other than in the goldens of each screen.
func TestFramesOfThemes(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]string{"light": "light", "high-contrast": "high-contrast", "colorblind": "colorblind", "colours16": "16 colours", "colours256": "256 colours"} {
		tuitest.CompareTour(t, name, screens.AllScreenSpecs(), "normal", drawn, []tuitest.Size{{W: 80, H: 24}}, allScreens[:6]...)
	}
}
