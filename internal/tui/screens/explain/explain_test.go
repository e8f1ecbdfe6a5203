package explain_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "explain", []screen.Spec{explain.Spec()}, nil, "normal", "empty", "loading", "disconnected", "many", "various")
}
