package job

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/propertytest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func drawn(l *logPane, width, height int) []string {
	look, _ := theme.New("mono", theme.NoColor, false)
	c := canvas.New(width, height, false)
	l.draw(&screenapi.Context{Now: noon, Theme: look, Snap: snapshot.EmptySnapshot(noon)}, c, &snapshot.Job{Name: "train"}, "nothing")
	return strings.Split(strings.TrimSpace(c.Text()), "\n")
}

func TestLinesOfSeveralPodsStandInTheOrderOfTheirTimes(t *testing.T) {
	t.Parallel()
	l := &logPane{pinned: true}
	l.selectLines(&screenapi.LogView{Lines: []screenapi.LogLine{
		{Pod: "train-a", At: noon, Text: "one"}, {Pod: "train-a", At: noon.Add(2 * time.Second), Text: "three"}, {Pod: "train-b", At: noon.Add(time.Second), Text: "two"},
	}}, nil)
	if diff := cmp.Diff([]string{"a | one", "b | two", "a | three"}, drawn(l, 20, 5)); diff != "" {
		t.Error(diff)
	}
}

// Past lines of a pod arrive when its stream starts, and are sorted above the visible lines.
func TestALineThatArrivesLateDoesNotMoveWhatOneReads(t *testing.T) {
	t.Parallel()
	l := &logPane{pinned: true, height: 3}
	view := &screenapi.LogView{}
	for i := range 20 {
		view.Lines = append(view.Lines, screenapi.LogLine{Pod: "train-a", At: noon.Add(time.Duration(i) * time.Second), Text: fmt.Sprintf("line %d", i), Serial: i + 1})
	}
	l.selectLines(view, nil)
	drawn(l, 20, 3)
	l.Move(-10)
	l.search = "line 8"
	l.found = behindAll
	before, found := drawn(l, 20, 3), l.MoveToMatch(false)
	if !found {
		t.Fatal("line 8 is not found")
	}
	reading := drawn(l, 20, 3)
	for i := range 6 {
		view.Lines = append(view.Lines, screenapi.LogLine{Pod: "train-b", At: noon.Add(time.Duration(i)*time.Second + time.Millisecond), Text: "late", Serial: 21 + i})
	}
	l.selectLines(view, nil)
	if diff := cmp.Diff(reading, drawn(l, 20, 3)); diff != "" {
		t.Errorf("what one reads jumped (%v before):\n%s", before, diff)
	}
	view = &screenapi.LogView{Dropped: 3, Lines: view.Lines[3:]}
	l.selectLines(view, nil)
	if diff := cmp.Diff(reading, drawn(l, 20, 3)); diff != "" {
		t.Errorf("when lines are dropped it jumps:\n%s", diff)
	}
	if at := l.indexOfSpot(l.found); l.shown[at].Text != "line 8" {
		t.Errorf("what was found is %q now", l.shown[at].Text)
	}
}

func TestAPinnedLogShowsTheNewestLine(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 100, func(t *rapid.T) {
		view := &screenapi.LogView{Dropped: rapid.IntRange(0, 1000).Draw(t, "dropped")}
		l := &logPane{pinned: true, wrap: rapid.Bool().Draw(t, "wrap"), stamps: rapid.Bool().Draw(t, "times")}
		height := rapid.IntRange(1, 12).Draw(t, "height")
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			for range rapid.IntRange(0, 5).Draw(t, "lines") {
				view.Lines = append(view.Lines, screenapi.LogLine{Pod: "train-0", Serial: len(view.Lines) + 1, Text: fmt.Sprintf("line %d; %s", len(view.Lines), strings.Repeat("x", rapid.IntRange(0, 60).Draw(t, "long")))})
			}
			l.selectLines(view, nil)
			before := drawn(l, 40, height)
			l.Move(rapid.IntRange(-20, 20).Draw(t, "scroll"))
			if rapid.Bool().Draw(t, "to the end") {
				l.End()
			}
			after := drawn(l, 40, height)
			if len(before) > height || len(after) > height {
				t.Fatalf("%d lines in %d", len(after), height)
			}
			if n := len(view.Lines); l.pinned && n > 0 && !l.wrap && !strings.Contains(after[len(after)-1], fmt.Sprintf("line %d;", n-1)) {
				t.Fatalf("the last line is %q of %d", after[len(after)-1], n)
			}
		}
	})
}

func logOf(texts ...string) *screenapi.LogView {
	view := &screenapi.LogView{}
	for i, text := range texts {
		view.Lines = append(view.Lines, screenapi.LogLine{Pod: "train-a", Serial: i + 1, Text: text})
	}
	return view
}

func TestOnlyMatchingLinesAreShownWithTheLinesAroundThem(t *testing.T) {
	t.Parallel()
	l := &logPane{pinned: true, search: "error", onlyMatches: true}
	l.selectLines(logOf("0", "1", "2", "an Error", "4", "error", "6", "7", "8", "9", "10", "11", "12", "last error"), nil)
	want := []string{"a | 1", "a | 2", "a | an Error", "a | 4", "a | error", "a | 6", "a | 7", "a | 11", "a | 12", "a | last error"}
	if diff := cmp.Diff(want, drawn(l, 20, 20)); diff != "" {
		t.Error(diff)
	}
}

func TestTheSavedLogContainsTheShownLinesAndNoExistingFileIsChanged(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "train.log")
	j := &Job{job: &snapshot.Job{Name: "train"}, log: logPane{pinned: true, search: "error", onlyMatches: true}}
	ctx := &screenapi.Context{Logs: logOf("0", "1", "2", "error", "4", "5", "6")}
	save := func() (string, error) {
		input := j.saveLog(ctx)[0].(screenapi.Input)
		if input.Value != "train.log" || input.Check("") == nil {
			t.Errorf("suggests %q, and accepts an empty name: %t", input.Value, input.Check("") == nil)
		}
		return input.Then(path)[0].(screenapi.Run).Do(t.Context())
	}
	said, err := save()
	if err != nil || said != "5 lines saved to "+path {
		t.Errorf("%q, %v", said, err)
	}
	text, _ := os.ReadFile(path)
	if diff := cmp.Diff("a | 1\na | 2\na | error\na | 4\na | 5\n", string(text)); diff != "" {
		t.Error(diff)
	}
	ctx.Logs = logOf("other error")
	if _, err := save(); err == nil || !strings.Contains(err.Error(), "already exists") {
		t.Errorf("an existing file: %v", err)
	}
	if now, _ := os.ReadFile(path); string(now) != string(text) {
		t.Errorf("the existing file was changed to %q", now)
	}
}

func TestPreviousLogsAreRequestedForTheSamePods(t *testing.T) {
	t.Parallel()
	j := &Job{job: &snapshot.Job{Name: "train", Pods: []*snapshot.Pod{{Name: "train-a", Started: snapshot.MomentOf(noon)}}}}
	for _, previous := range []bool{false, true, false} {
		j.previous = previous
		want := []screenapi.Effect{screenapi.StreamLogs{Pods: []screenapi.PodRef{{Name: "train-a", Previous: previous}}}}
		if diff := cmp.Diff(want, j.streamLogs()); diff != "" {
			t.Errorf("previous %t: %s", previous, diff)
		}
	}
}
