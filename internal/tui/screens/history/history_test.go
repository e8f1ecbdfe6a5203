package history_test

import (
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.CompareFrames(t, "history", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("1", "t"), "normal", "few", "empty", "many")
	tuitest.CompareFrames(t, "queue", tuitest.SameSpecsAlways(screens.AllScreenSpecs()), tuitest.KeyPresser("3", "t"), "normal")
}

// The chart of a minute in which the pods of a cluster end: idle rises, allocated falls, and the text says both.
func TestTheHistoryFollowsTheCluster(t *testing.T) {
	t.Parallel()
	app := tuitest.Start(t, screens.AllScreenSpecs(), "normal", tuitest.Size{W: 120, H: 40})
	before := app.Context().Snap
	empty := *before
	empty.Nodes = make([]*snapshot.Node, len(before.Nodes))
	for i, node := range before.Nodes {
		free := *node
		free.Used, free.Idle = snapshot.Amounts{}, free.Has
		empty.Nodes[i] = &free
	}
	app.SetCurrentTime(tuitest.Now.Add(time.Minute))
	app.SetSnapshot(&empty)
	tuitest.KeyPresser("1", "t")(app)
	frame := app.Draw().Text()
	if want := "now 0, lowest 0, highest 378; top of scale: 768 (allocatable)"; !strings.Contains(frame, want) {
		t.Errorf("the chart of allocated GPUs does not say %q:\n%s", want, frame)
	}
	if want := "now 744, lowest 366, highest 744"; !strings.Contains(frame, want) {
		t.Errorf("the chart of idle GPUs does not say %q:\n%s", want, frame)
	}
	if want := "60s since the dashboard started; 1 value every 5s"; !strings.Contains(frame, want) {
		t.Errorf("the time scale does not contain %q:\n%s", want, frame)
	}
	text := app.VisibleScreen().Twin(app.Context())
	if want := "allocated   378     0        378       0"; !strings.Contains(text, want) {
		t.Errorf("the text does not contain %q:\n%s", want, text)
	}
}
