package events_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.CompareFrames(t, "events", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("1", "e"))
}
