package job

import (
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

var testTime = time.Date(2026, time.November, 21, 21, 53, 39, 0, time.UTC)

func TestTheExitCodeOfAPodIsWholeAtAnyWidth(t *testing.T) {
	t.Parallel()
	look, err := theme.New("dark", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{60, 80, 120, 220} {
		ctx := &screenapi.Context{W: width, Theme: look, Snap: snapshot.EmptySnapshot(testTime), Now: testTime}
		table := newPodTable()
		ended := &snapshot.Pod{Name: "train-worker-0", UID: "0", Task: "worker", State: "Error", Exited: true, ExitCode: 137, Message: "killed because the container exceeded its memory limit"}
		running := &snapshot.Pod{Name: "train-worker-1", UID: "1", Task: "worker", Index: 1, State: "Running", Started: snapshot.MomentOf(testTime)}
		table.SetRows(ctx, []pod{ended, running}, false)
		if text := table.Text(ctx, width, ""); !strings.Contains(text, " 137 ") || !strings.Contains(text, "EXIT") {
			t.Errorf("%d columns:\n%s", width, text)
		}
		table.SetRows(ctx, []pod{running}, false)
		if text := table.Text(ctx, width, ""); strings.Contains(text, "EXIT") {
			t.Errorf("%d columns, no pod has ended:\n%s", width, text)
		}
	}
}

func TestALongReasonIsWrapped(t *testing.T) {
	t.Parallel()
	facts := []jobstatus.Fact{{Name: "Queue", Text: "bio            Priority 10"}, {Name: "Why", Text: "needs 6 pods at the same time, but only 4 fit: cpu requested 6, available 4"}}
	lines := wrapFacts(facts, 30)
	var texts []string
	for _, line := range lines {
		texts = append(texts, line.Name+"|"+line.Text)
	}
	want := "Queue|bio            Priority 10\nWhy|needs 6 pods at the same time,\n|but only 4 fit: cpu requested\n|6, available 4"
	if got := strings.Join(texts, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
