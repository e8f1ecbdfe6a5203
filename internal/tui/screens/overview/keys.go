package overview

import (
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/screenapi"
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
	selected := screenapi.GuardForScreen(func(o *Overview, _ *screenapi.Context) string {
		if _, ok := o.jobs.Selected(); !ok {
			return "no job is selected"
		}
		return ""
	})
	to := func(target, page string) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(o *Overview, _ *screenapi.Context) []screenapi.Effect {
			row, _ := o.jobs.Selected()
			return []screenapi.Effect{screenapi.Open{Screen: target, Target: string(row.Job.UID) + page}}
		})
	}
	return append(keys,
		screenapi.Binding{Screen: name, Key: "enter", Name: "open", Help: "open the job under the cursor", Footer: 9, Guard: selected, Do: to(screenapi.Job, "")},
		screenapi.Binding{Screen: name, Key: "l", Name: "logs", Help: "the logs of the job's pods", Footer: 11, Guard: selected, Do: to(screenapi.Job, "#logs")},
		screenapi.Binding{Screen: name, Key: "w", Name: "why", Help: "why the job is waiting, its estimated start, and what would start it", Footer: 12, Guard: selected, Do: to(screenapi.Explain, "")},
		widget.FirstRowKey(name, jobs),
		screenapi.Binding{Screen: name, Key: "m", Name: "resource", Help: "show the next resource in the heat map and in the queue bars", Footer: 60,
			Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
				return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
			}},
		screenapi.Binding{Screen: name, Key: "e", Name: "events", Help: "open the screen of all events", Footer: 61, Do: screenapi.DoForScreen(func(*Overview, *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Events}}
		})},
	)
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
