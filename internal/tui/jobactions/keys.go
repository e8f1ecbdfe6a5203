package jobactions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Targets returns the jobs that a key applies to: the marked jobs, or the one under the cursor if none is marked.
type Targets func(*screenapi.Context, screenapi.Screen) []*snapshot.Job

// key is an action on jobs, together with its key.
type key struct {
	key, name, help string
	footer          int
	verb            screenapi.Verb
	// effect describes what will happen to multiple jobs, effectOnOne what will happen to a single one.
	effect, effectOnOne string
	// judge determines to which jobs the action applies.
	judge *clusterops.Verb
}

var keys = []key{
	{"x", "cancel", "end jobs permanently, but keep their records", 10, screenapi.Cancel, "The jobs' pods will be stopped permanently. The job records will be kept.",
		"The job's pods will be stopped permanently. The job record will be kept.", clusterops.Cancel},
	{"p", "suspend", "stop the pods of jobs, but keep the jobs", 21, screenapi.Suspend, "The jobs' pods will be stopped. Work since the last checkpoint will be lost.",
		"The job's pods will be stopped. Work since the last checkpoint will be lost.", clusterops.Suspend},
	{"r", "resume", "start suspended jobs again", 20, screenapi.Resume, "The jobs will return to their queues.", "The job will return to its queue.", clusterops.Resume},
	{"R", "requeue", "stop all pods of jobs and start them again", 22, screenapi.Requeue, "All pods of the jobs will be stopped, and the jobs will return to their queues. Work since the last checkpoint will be lost.",
		"All pods of the job will be stopped, and the job will return to its queue. Work since the last checkpoint will be lost.", clusterops.Restart},
	{"h", "hold", "keep jobs from starting", 23, screenapi.Hold, "The jobs will not start until they are released.", "The job will not start until it is released.", clusterops.Hold},
	{"u", "release", "release held jobs", 24, screenapi.Release, "The jobs will start as soon as enough resources are free.", "The job will start as soon as enough resources are free.", clusterops.Release},
	{"ctrl+d", "delete", "delete jobs with their pods and logs", 0, screenapi.Delete, "The jobs, their pods and their logs will be deleted.", "The job, its pods and their logs will be deleted.", clusterops.Delete},
}

// BindingsFor returns the key bindings for a screen.
func BindingsFor(name string, targets Targets) []screenapi.Binding {
	bindings := make([]screenapi.Binding, len(keys))
	for i, a := range keys {
		bindings[i] = screenapi.Binding{
			Screen: name, Key: a.key, Name: a.name, Help: a.help, Footer: a.footer, Writes: true,
			Guard: func(ctx *screenapi.Context, s screenapi.Screen) string { return a.reasonForNoJobs(targets(ctx, s)) },
			Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
				return a.askToConfirm(ctx, targets(ctx, s))
			},
		}
	}
	return append(bindings, editBinding(name, targets), priorityBinding(name, targets))
}

// editBinding returns the binding that opens a single job in an editor.
func editBinding(name string, targets Targets) screenapi.Binding {
	return screenapi.Binding{
		Screen: name, Key: "ctrl+e", Name: "edit", Help: "edit the job in your editor, with the same checks as vcctl job edit", Writes: true,
		Guard: func(ctx *screenapi.Context, s screenapi.Screen) string {
			if n := len(targets(ctx, s)); n != 1 {
				return "edit: select one job"
			}
			return ""
		},
		Do: func(ctx *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			job, edit := targets(ctx, s)[0], ctx.Actions.EditJob
			return []screenapi.Effect{screenapi.Shell{Name: "edit " + job.Name, Do: func(ctx context.Context, in io.Reader, out, errOut io.Writer) (string, error) {
				return edit(ctx, job, in, out, errOut)
			}}}
		},
	}
}

// splitApplicableJobs returns the jobs that the action applies to, the reason why it does not apply to the first of the
// other jobs, and the number of those.
func (a *key) splitApplicableJobs(jobs []*snapshot.Job) (fit []*snapshot.Job, refused string, left int) {
	for _, job := range jobs {
		why, already := a.judge.CheckApplicable(job.Object)
		switch {
		case why == "" && already == "":
			fit = append(fit, job)
			continue
		case refused != "":
		case why != "":
			refused = job.Name + ": " + why
		default:
			refused = job.Name + " " + already
		}
		left++
	}
	return fit, refused, left
}

// appliesTo reports whether the action applies to a job.
func (a *key) appliesTo(job *snapshot.Job) bool {
	why, already := a.judge.CheckApplicable(job.Object)
	return why == "" && already == ""
}

// reasonForNoJobs returns the reason why the action applies to none of the jobs, or "".
func (a *key) reasonForNoJobs(jobs []*snapshot.Job) string {
	if len(jobs) == 0 {
		return a.name + ": no job is selected"
	}
	if slices.ContainsFunc(jobs, a.appliesTo) { // this runs for each frame, even if thousands of jobs are marked
		return ""
	}
	_, refused, left := a.splitApplicableJobs(jobs)
	if left == 1 {
		return a.name + ": " + refused
	}
	return fmt.Sprintf("%s: not possible for any of the %d jobs: %s", a.name, left, refused)
}

// mostNamed is the maximum number of jobs that a question lists.
const mostNamed = 6

// mostUncounted is the largest number of jobs for which "y" is a confirmation. For more jobs, the user types the number.
const mostUncounted = 10

// askToConfirm returns the question. The action is carried out if the user confirms it.
func (a *key) askToConfirm(ctx *screenapi.Context, jobs []*snapshot.Job) []screenapi.Effect {
	fit, refused, left := a.splitApplicableJobs(jobs)
	var named, lines []string
	for _, job := range fit[:min(len(fit), mostNamed)] {
		named = append(named, describeJob(ctx, job))
	}
	effect := a.effect
	if len(fit) == 1 {
		effect = a.effectOnOne
	}
	lines = append(lines, effect)
	if left > 0 {
		lines = append(lines, fmt.Sprintf("%s not changed: %s", countWithNoun(left), refused))
	}
	expect := ""
	if len(fit) > mostUncounted {
		expect = strconv.Itoa(len(fit))
	}
	do := ctx.Actions.Jobs
	return []screenapi.Effect{screenapi.Ask{
		Question: fmt.Sprintf("%s %s?", capitalizeFirst(a.name), describeJobs(fit)),
		Named:    named, Count: len(fit), Lines: lines, Expect: expect,
		Then: []screenapi.Effect{screenapi.Run{Name: a.name + " " + describeJobs(fit), Undo: undoOf(a.verb, fit, do), Do: func(ctx context.Context) (string, error) {
			return do(ctx, a.verb, fit)
		}}},
	}}
}

// opposites maps an action to the action that reverts it, if there is one.
var opposites = map[screenapi.Verb]screenapi.Verb{screenapi.Hold: screenapi.Release, screenapi.Release: screenapi.Hold, screenapi.Suspend: screenapi.Resume}

// undoOf returns the Undo of an action on jobs, or nil.
func undoOf(verb screenapi.Verb, jobs []*snapshot.Job, do func(context.Context, screenapi.Verb, []*snapshot.Job) (string, error)) func(*screenapi.Context) *screenapi.Run {
	opposite, ok := opposites[verb]
	if !ok {
		return nil
	}
	return func(ctx *screenapi.Context) *screenapi.Run {
		current := currentJobs(ctx.Snap, jobs)
		return &screenapi.Run{Name: "undo: " + string(opposite) + " " + describeJobs(jobs), Do: func(ctx context.Context) (string, error) { return do(ctx, opposite, current) }}
	}
}

// currentJobs returns the current state of jobs. Jobs that have been deleted keep their last known state.
func currentJobs(snap *snapshot.Snapshot, jobs []*snapshot.Job) []*snapshot.Job {
	current := slices.Clone(jobs)
	for i, job := range jobs {
		if now := snap.Job(job.UID); now != nil {
			current[i] = now
		}
	}
	return current
}

func describeJobs(jobs []*snapshot.Job) string {
	if len(jobs) == 1 {
		return "job " + jobs[0].Namespace + "/" + jobs[0].Name
	}
	return countWithNoun(len(jobs))
}

func countWithNoun(n int) string {
	if n == 1 {
		return "1 job"
	}
	return fmt.Sprintf("%d jobs", n)
}

// describeJob describes a job in a question, for example "rm-train (913)  R 1:55:00  8 gpu".
func describeJob(ctx *screenapi.Context, job *snapshot.Job) string {
	text := job.Namespace + "/" + job.Name
	if job.ID != "" {
		text += " (" + job.ID + ")"
	}
	text += "  " + jobrow.Row{Job: job}.StateText(ctx.Words)
	if elapsed, ok := jobrow.ElapsedTime(job, ctx.Now); ok {
		text += " " + state.ShortClock(elapsed)
	}
	if job.GPUs > 0 {
		text += fmt.Sprintf("  %d gpu", job.GPUs)
	}
	return text
}

func capitalizeFirst(word string) string { return strings.ToUpper(word[:1]) + word[1:] }
