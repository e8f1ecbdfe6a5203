package jobs_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "jobs", tuitest.Always(screens.All()), tuitest.Keys("2"))
}
