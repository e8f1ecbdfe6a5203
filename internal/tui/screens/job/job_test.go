package job_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/job"
	"github.com/vc-batch/vc/test/tuitest"
)

// of returns a dashboard that shows one job.
func of(target string) []screenapi.Spec {
	spec := job.ScreenSpec()
	spec.Number, spec.Tab, spec.ShortTab = "2", "Job", "Job"
	spec.New = func(string) screenapi.Screen { return job.New(target) }
	return []screenapi.Spec{spec}
}

// shown maps a world to the job to show.
var shown = map[string]string{"normal": "job-931", "empty": "job-931", "loading": "job-931", "disconnected": "job-931", "many": "job-1000", "various": "job-15"}

func worlds() []string {
	return []string{"normal", "empty", "loading", "disconnected", "many", "various"}
}

func shows(world string) []screenapi.Spec { return of(shown[world]) }

func TestFrames(t *testing.T) {
	t.Parallel()
	tuitest.CompareFrames(t, "job", shows, nil, worlds()...)
}

// The pages other than the summary.
func TestFramesOfPages(t *testing.T) {
	t.Parallel()
	for page, key := range map[string]string{"pods": "P", "events": "e", "yaml": "Y"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			tuitest.CompareFrames(t, page, shows, tuitest.KeyPresser(key), worlds()...)
		})
	}
}

func TestFramesOfLogs(t *testing.T) {
	t.Parallel()
	logs := func(world string) []screenapi.Spec { return of(shown[world] + "#logs") }
	tuitest.CompareFrames(t, "logs", logs, func(app *tui.App) {
		if len(app.Context().Snap.Jobs) == 0 {
			return
		}
		view := &screenapi.LogView{Dropped: 120}
		for i := range 100 {
			view.Lines = append(view.Lines, screenapi.LogLine{Pod: []string{"crashes-worker-0", "crashes-worker-1", "crashes-worker-2"}[i%3], At: tuitest.Now, Text: line(i), Serial: i + 1})
		}
		app.SetLogs(view)
	}, "various", "empty", "loading", "disconnected", "many")
}

// line returns typical program output: colours, tabs, wide runes, long lines.
func line(i int) string {
	switch i % 5 {
	case 0:
		return "\x1b[32mepoch 1\x1b[0m\tloss 0.71"
	case 1:
		return "训练 第 1 轮 损失 0.71"
	case 2:
		return "a line that is longer than most screens are wide, because it was written by a program that prints the whole of its configuration, which is a lot, in one single line"
	case 3:
		return "\r 50%|█████     |"
	}
	return "checkpoint saved"
}
