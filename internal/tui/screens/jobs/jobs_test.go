package jobs_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens/jobs"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "jobs", []screen.Spec{jobs.Spec()}, nil)
}
