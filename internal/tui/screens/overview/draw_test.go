package overview

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
)

func TestEventsAreBesideTheQueuesOnWideTerminalsOnly(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]bool{140: false, 160: true, 220: true} {
		ctx, o := demoContext(t, width, 47)
		c := canvas.New(width, 47, false)
		o.Draw(ctx, c)
		beside := false
		for _, line := range strings.Split(c.Text(), "\n") {
			beside = beside || strings.Contains(line, "─ Queues ─") && strings.Contains(line, "─ Events ─")
		}
		if beside != want {
			t.Errorf("%d columns: the events are beside the queues: %t\n%s", width, beside, c.Text())
		}
	}
}

func TestLongMessagesOfEventsAreWrappedWhileLinesAreFree(t *testing.T) {
	t.Parallel()
	ctx, _ := demoContext(t, 160, 47)
	var events []*snapshot.Event
	for i := range 2 { // the newest one is the last
		events = append(events, &snapshot.Event{
			At: demo.Now, Kind: "Job", Namespace: "nlp", Name: fmt.Sprint("j", i), Reason: "Failed", Message: "one two three four five six seven eight nine ten eleven twelve",
		})
	}
	for height, want := range map[int][]string{
		2: {"21:53:39 job nlp/j1 Failed one two three", "21:53:39 job nlp/j0 Failed one two three"},
		4: {"21:53:39 job nlp/j1 Failed", "one two three four five six seven", "eight nine ten eleven twelve", "21:53:39 job nlp/j0 Failed one two three"},
	} {
		c := canvas.New(45, height, false)
		drawNewestEvents(ctx, c, events)
		var lines []string
		for _, line := range strings.Split(strings.TrimRight(c.Text(), "\n"), "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " four …")
			lines = append(lines, strings.TrimSuffix(strings.TrimSpace(line), "…"))
		}
		if len(lines) != height {
			t.Errorf("%d lines in %d", len(lines), height)
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, want[min(i, len(want)-1)]) {
				t.Errorf("%d lines: %s", height, cmp.Diff(want, lines))
				break
			}
		}
	}
}
