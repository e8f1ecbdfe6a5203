package tree_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/tree"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	shown := map[string]string{"normal": "job-931", "various": "job-15", "empty": "job-931", "loading": "job-931", "disconnected": "job-931"}
	tuitest.CompareFrames(t, "tree", func(world string) []screenapi.Spec {
		spec := tree.ScreenSpec()
		spec.Number, spec.Tab, spec.ShortTab = "2", "Tree", "Tree"
		spec.New = func(string) screenapi.Screen { return tree.New(shown[world]) }
		return []screenapi.Spec{spec}
	}, nil, "normal", "various", "empty", "loading", "disconnected")
}
