package jobactions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// priorityBinding returns the binding that gives jobs another priority class.
func priorityBinding(name string, targets Targets) screenapi.Binding {
	return screenapi.Binding{
		Screen: name, Key: "ctrl+p", Name: "priority", Help: "change the priority class of jobs", Writes: true,
		Guard: func(ctx *screenapi.Context, s screenapi.Screen) string { return priorityRefusal(targets(ctx, s)) },
		Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return askForPriority(ctx, activeJobs(targets(ctx, s)))
		},
	}
}

// activeJobs returns the jobs that have not ended.
func activeJobs(jobs []*snapshot.Job) []*snapshot.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(job *snapshot.Job) bool { return jobstatus.IsFinishedPhase(job.Phase) })
}

// priorityRefusal returns the reason why none of the jobs can get another priority class, or "".
func priorityRefusal(jobs []*snapshot.Job) string {
	switch {
	case len(jobs) == 0:
		return "priority: no job is selected"
	case len(jobs) == 1 && len(activeJobs(jobs)) == 0:
		return "priority: " + jobs[0].Name + " has ended"
	case len(activeJobs(jobs)) == 0:
		return fmt.Sprintf("priority: all %d jobs have ended", len(jobs))
	}
	return ""
}

// askForPriority returns the menu of priority classes. If they are not visible, it asks for a name instead.
func askForPriority(ctx *screenapi.Context, jobs []*snapshot.Job) []screenapi.Effect {
	title := "Priority class of " + describeJobs(jobs)
	actions := ctx.Actions
	if len(ctx.Snap.PriorityClasses) == 0 {
		return []screenapi.Effect{screenapi.Input{
			Question: title, Lines: []string{"Enter the name of a class; an empty name removes the class."}, Value: jobs[0].PriorityClass,
			Then: func(class string) []screenapi.Effect { return changePriority(actions, strings.TrimSpace(class), jobs) },
		}}
	}
	classes := []string{""}
	choices := []screenapi.Choice{{Title: "no class", On: jobs[0].PriorityClass == ""}}
	for _, class := range classesByValue(ctx.Snap.PriorityClasses) {
		classes = append(classes, class)
		choices = append(choices, screenapi.Choice{Title: fmt.Sprintf("%-24s %d", class, ctx.Snap.PriorityClasses[class]), On: jobs[0].PriorityClass == class})
	}
	return []screenapi.Effect{screenapi.Choose{Title: title, Choices: choices, One: true, Then: func(ticked []bool) []screenapi.Effect {
		return changePriority(actions, classes[slices.Index(ticked, true)], jobs)
	}}}
}

// classesByValue returns the names of classes, the highest value first.
func classesByValue(values map[string]int32) []string {
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), strings.Compare(a, b))
	})
}

// changePriority returns the effect that gives a priority class to those jobs that have another one.
func changePriority(actions screenapi.Actions, class string, jobs []*snapshot.Job) []screenapi.Effect {
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(job *snapshot.Job) bool { return job.PriorityClass == class })
	if len(jobs) == 0 {
		return []screenapi.Effect{screenapi.Notice{Text: "the priority class was not changed"}}
	}
	run := screenapi.Run{Name: "change priority of " + describeJobs(jobs), Do: func(ctx context.Context) (string, error) { return actions.Priority(ctx, class, jobs) }}
	run.Undo = func(ctx *screenapi.Context) *screenapi.Run { return restorePriorities(ctx.Actions, jobs) }
	return []screenapi.Effect{run}
}

// restorePriorities returns the Run that gives the jobs the classes that they have in these rows.
func restorePriorities(actions screenapi.Actions, jobs []*snapshot.Job) *screenapi.Run {
	byClass := map[string][]*snapshot.Job{}
	for _, job := range jobs {
		byClass[job.PriorityClass] = append(byClass[job.PriorityClass], job)
	}
	return &screenapi.Run{Name: "undo: change priority of " + describeJobs(jobs), Do: func(ctx context.Context) (string, error) {
		var said []string
		var problems []error
		for _, class := range slices.Sorted(maps.Keys(byClass)) {
			one, err := actions.Priority(ctx, class, byClass[class])
			if one != "" {
				said = append(said, one)
			}
			problems = append(problems, err)
		}
		return strings.Join(said, "; "), errors.Join(problems...)
	}}
}
