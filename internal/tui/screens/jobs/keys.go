package jobs

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Jobs, Tab: "Jobs", ShortTab: "Jobs", Number: "2", New: New, Keys: keyBindings()}
}

func keyBindings() []screenapi.Binding {
	name := screenapi.Jobs
	rows := func(s screenapi.Screen) widget.Rows { return &s.(*Jobs).table }
	selected := screenapi.GuardForScreen(func(j *Jobs, _ *screenapi.Context) string {
		if _, ok := j.table.Selected(); !ok {
			return "no job is selected"
		}
		return ""
	})
	to := func(target string) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(j *Jobs, _ *screenapi.Context) []screenapi.Effect {
			row, _ := j.table.Selected()
			return []screenapi.Effect{screenapi.Open{Screen: target, Target: string(row.Job.UID)}}
		})
	}
	keys := []screenapi.Binding{
		{Screen: name, Key: "enter", Name: "open", Help: "the job with its pods, logs and events", Footer: 4, Guard: selected, Do: to(screenapi.Job)},
		{Screen: name, Key: "w", Name: "why", Help: "why the job is waiting, its estimated start, and what would start it", Footer: 5, Guard: selected, Do: to(screenapi.Explain)},
		{Screen: name, Key: "l", Name: "logs", Help: "the logs of the job's pods", Footer: 6, Guard: selected, Do: screenapi.DoForScreen(func(j *Jobs, _ *screenapi.Context) []screenapi.Effect {
			row, _ := j.table.Selected()
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: string(row.Job.UID) + "#logs"}}
		})},
		{Screen: name, Key: "-", Name: "unfold", Help: "show or hide the elements of an array", Footer: 44, Guard: screenapi.GuardForScreen(func(j *Jobs, _ *screenapi.Context) string {
			if row, ok := j.table.Selected(); !ok || !jobrow.IsArray(row.Job) {
				return "this job is not an array"
			}
			return ""
		}), Do: screenapi.DoForScreen((*Jobs).toggleFold)},
		{Screen: name, Key: "g", Name: "group", Help: "group by queue, user, namespace or state, or do not group", Footer: 43, Do: screenapi.DoForScreen((*Jobs).nextGroup)},
	}
	keys = append(keys, widget.RowKeys(name, rows)...)
	keys = append(keys, widget.MarkKeys(name, rows)...)
	return append(keys, jobactions.BindingsFor(name, func(ctx *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
		return s.(*Jobs).actionTargets(ctx, s)
	})...)
}
