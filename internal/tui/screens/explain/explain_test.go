package explain_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.CompareFrames(t, "explain", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("5"), "normal", "empty", "loading", "disconnected", "many", "various")
}
