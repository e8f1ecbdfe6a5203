package jobs

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobact"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Spec returns the description of the screen.
func Spec() screen.Spec {
	return screen.Spec{Name: screen.Jobs, Tab: "Jobs", ShortTab: "Jobs", Number: "2", New: New, Keys: keys()}
}

func keys() []screen.Binding {
	name := screen.Jobs
	rows := func(s screen.Screen) widget.Rows { return &s.(*Jobs).table }
	selected := screen.When(func(j *Jobs, _ *screen.Context) string {
		if _, ok := j.table.Selected(); !ok {
			return "no job is selected"
		}
		return ""
	})
	to := func(target string) func(*screen.Context, screen.Screen) []screen.Effect {
		return screen.On(func(j *Jobs, _ *screen.Context) []screen.Effect {
			row, _ := j.table.Selected()
			return []screen.Effect{screen.Open{Screen: target, Target: string(row.Job.UID)}}
		})
	}
	keys := []screen.Binding{
		{Screen: name, Key: "enter", Name: "open", Help: "the job with its pods, logs and events", Footer: 4, Guard: selected, Do: to(screen.Job)},
		{Screen: name, Key: "w", Name: "why", Help: "why the job waits, until when, and what would start it", Footer: 5, Guard: selected, Do: to(screen.Explain)},
		{Screen: name, Key: "l", Name: "logs", Help: "the logs of the job's pods", Footer: 6, Guard: selected, Do: screen.On(func(j *Jobs, _ *screen.Context) []screen.Effect {
			row, _ := j.table.Selected()
			return []screen.Effect{screen.Open{Screen: screen.Job, Target: string(row.Job.UID) + "#logs"}}
		})},
		{Screen: name, Key: "-", Name: "unfold", Help: "show the elements of an array, or fold them again", Footer: 44, Guard: screen.When(func(j *Jobs, _ *screen.Context) string {
			if row, ok := j.table.Selected(); !ok || !jobrow.IsArray(row.Job) {
				return "this is no array"
			}
			return ""
		}), Do: screen.On((*Jobs).fold)},
		{Screen: name, Key: "g", Name: "group", Help: "group by queue, user, namespace or state, or not at all", Footer: 43, Do: screen.On((*Jobs).nextGroup)},
	}
	keys = append(keys, widget.RowKeys(name, rows)...)
	keys = append(keys, widget.MarkKeys(name, rows)...)
	return append(keys, jobact.Keys(name, func(ctx *screen.Context, s screen.Screen) []*snapshot.Job { return s.(*Jobs).targets(ctx, s) })...)
}
