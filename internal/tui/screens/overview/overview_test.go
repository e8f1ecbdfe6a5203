package overview_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens/overview"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func specs() []screen.Spec { return []screen.Spec{overview.Spec()} }

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "overview", specs(), nil)
}
