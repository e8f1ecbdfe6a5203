package overview

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/history"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// KeyBindings returns the screen's key table.
func KeyBindings() []screenapi.Binding {
	name := screenapi.Overview
	jobs := func(s screenapi.Screen) widget.Rows {
		if o, ok := s.(*Overview); ok {
			return &o.jobs
		}
		return nil
	}
	keys := append(widget.RowKeys(name, jobs), widget.MarkKeys(name, jobs)...)
	keys = append(keys, jobactions.BindingsFor(name, actionTargets)...)
	keys = append(keys, jobactions.ViewBindings(name, func(s screenapi.Screen) *snapshot.Job {
		row, _ := s.(*Overview).jobs.Selected()
		return row.Job
	})...)
	keys = append(keys,
		widget.FirstRowKey(name, jobs),
		screenapi.Binding{Screen: name, Key: "m", Name: "resource", Help: "show the next resource in the heat map and in the queue bars", Footer: 60,
			Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
			}},
		screenapi.Binding{Screen: name, Key: "e", Name: "events", Help: "show all events", Footer: 61, Do: screenapi.DoForScreen(func(*Overview, *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Events}}
		})},
		history.OpenBinding(name, func(screenapi.Screen) string { return "" }),
	)
	return append(keys, widget.SortKeys(name, jobs, columnsOfJobs(), keys)...)
}

// actionTargets returns the jobs that an action applies to: the marked jobs, or the one under the cursor if none is
// marked.
func actionTargets(_ *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
	o, ok := s.(*Overview)
	if !ok {
		return nil
	}
	var jobs []*snapshot.Job
	for _, row := range o.jobs.Targets() {
		jobs = append(jobs, row.Job)
	}
	return jobs
}
