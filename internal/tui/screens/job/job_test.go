package job_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/screens/job"
	"github.com/vc-batch/vc/internal/tui/screens/jobs"
	"github.com/vc-batch/vc/internal/tui/tuitest"
)

func specs() []screen.Spec { return []screen.Spec{jobs.Spec(), job.Spec()} }

// open opens the job under the cursor.
func open(app *tui.App) { app.Key(tuitest.Press("enter")) }

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.Frames(t, "job", specs(), open, "normal", "disconnected", "many")
}
