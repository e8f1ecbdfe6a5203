package overview_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "overview", tuitest.Always(screens.All()), tuitest.Keys("1"))
}
