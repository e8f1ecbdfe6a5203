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
	keys := []screenapi.Binding{
		{Screen: name, Key: "-", Name: "unfold", Help: "show or hide the tasks of an array", Footer: 44, Guard: screenapi.GuardForScreen(func(j *Jobs, _ *screenapi.Context) string {
			if row, ok := j.table.Selected(); !ok || !jobrow.IsArray(row.Job) {
				return "this job is not an array"
			}
			return ""
		}), Do: screenapi.DoForScreen((*Jobs).toggleFold)},
		{Screen: name, Key: "g", Name: "group", Help: "group by queue, user, namespace or state, or do not group", Footer: 43, Do: screenapi.DoForScreen((*Jobs).nextGroup)},
	}
	keys = append(keys, jobactions.ViewBindings(name, func(s screenapi.Screen) *snapshot.Job {
		row, _ := s.(*Jobs).table.Selected()
		return row.Job
	})...)
	keys = append(keys, jobactions.TreeBinding(name, func(s screenapi.Screen) *snapshot.Job {
		row, _ := s.(*Jobs).table.Selected()
		return row.Job
	}))
	keys = append(keys, widget.RowKeys(name, rows)...)
	keys = append(keys, widget.MarkKeys(name, rows)...)
	keys = append(keys, jobactions.BindingsFor(name, func(ctx *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
		return s.(*Jobs).actionTargets(ctx, s)
	})...)
	return append(keys, widget.SortKeys(name, rows, jobrow.AllColumns(), keys)...)
}
