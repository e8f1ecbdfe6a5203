package queues

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// fact is a line of information about a queue.
type fact struct {
	text  string
	style canvas.Style
}

// facts returns the contents of a queue's box, limited to the specified width and number of lines.
func (q *Queues) facts(ctx *screenapi.Context, r *row, width, lines int) []fact {
	spec := &r.Object.Spec
	n := numbersOf(r.Queue, q.resource)
	all := []fact{
		{fmt.Sprintf("%s  weight %d  priority %d  dequeue %s", r.Name, spec.Weight, spec.Priority, cmp.Or(string(spec.DequeueStrategy), "traverse")), theme.Plain},
		{fmt.Sprintf("guarantee %s   deserved %s   capability %s  (%s)", text(q.resource, n.Guarantee), text(q.resource, n.Deserved), text(q.resource, n.Capability),
			screenapi.ShortResource(string(q.resource))), theme.Plain},
		{q.holding(n), theme.Plain},
	}
	for _, note := range q.notes(r) {
		for _, line := range render.Wrap(note, width) {
			all = append(all, fact{line, theme.Warn})
		}
	}
	all = append(all, q.others(ctx, r)...)
	return all[:min(len(all), max(lines, 0))]
}

// others returns lines about the resources that the bars do not show.
func (q *Queues) others(ctx *screenapi.Context, r *row) []fact {
	var all []fact
	for _, name := range ctx.Snap.Resources {
		n := numbersOf(r.Queue, name)
		if name == q.resource || n.Allocated == 0 && max(n.Guarantee, n.Deserved, n.Capability) < 0 {
			continue
		}
		line := screenapi.ShortResource(string(name)) + ": allocated " + text(name, n.Allocated)
		for _, bound := range []struct {
			word   string
			amount int64
		}{{"guarantee", n.Guarantee}, {"deserved", n.Deserved}, {"capability", n.Capability}} {
			if bound.amount >= 0 {
				line += "  " + bound.word + " " + text(name, bound.amount)
			}
		}
		all = append(all, fact{line, theme.Dim})
	}
	return all
}

func (q *Queues) holding(n queuerow.Numbers) string {
	line := fmt.Sprintf("allocated %s  inqueue %s", text(q.resource, n.Allocated), text(q.resource, n.Admitted))
	if left, ok := left(n); ok {
		line += fmt.Sprintf("     %s left to capability", text(q.resource, left))
	}
	return line
}

// notes returns the information about a queue other than its numbers: jobs that block others, errors, borrowed
// resources, and the last reclaim.
func (q *Queues) notes(r *row) []string {
	var notes []string
	if note := q.forest.Note(r.Object); note != "" {
		notes = append(notes, note)
	}
	if blocker := q.blocker(r); blocker != "" {
		notes = append(notes, blocker)
	}
	return notes
}

// blocker returns the reason why the first pending job waits if the scheduler has reported it.
func (q *Queues) blocker(r *row) string {
	for _, j := range q.waitingIn(r) {
		if j.Group == nil || j.Group.Status.Explanation == nil {
			continue
		}
		for _, s := range j.Group.Status.Explanation.Short {
			if s.Scope == "queue" {
				return fmt.Sprintf("%s + %s: requested %s %s, short by %s", cmp.Or(s.Of, j.Queue), j.Name, s.Asked, render.ShortResource(s.Resource), s.ShortBy)
			}
		}
	}
	return ""
}

// waitingIn returns the pending jobs of a queue and its descendants.
func (q *Queues) waitingIn(r *row) []*snapshot.Job {
	if !r.asked {
		r.waiting, r.asked = q.gather(r), true
	}
	return r.waiting
}

func (q *Queues) gather(r *row) []*snapshot.Job {
	var all []*snapshot.Job
	below := 0
	for _, other := range q.all[r.place:] {
		if other.place != r.place && other.Depth <= r.Depth {
			break
		}
		if len(other.Pending) > 0 {
			all = append(all, other.Pending...)
			below++
		}
	}
	if below > 1 {
		slices.SortStableFunc(all, snapshot.ByTurn)
	}
	return all
}

// needs returns the amount that a job requests of its scarcest resource.
func needs(j *snapshot.Job) string {
	if j.GPUs > 0 {
		return fmt.Sprintf("%d gpu", j.GPUs)
	}
	if j.Group != nil && j.Group.Spec.MinResources != nil {
		if cpu, ok := (*j.Group.Spec.MinResources)[corev1.ResourceCPU]; ok {
			return render.Cores(cpu.MilliValue()) + " cpu"
		}
	}
	return fmt.Sprintf("%d pods", j.Min)
}

// blockedBy returns the reason why a job waits in one word.
func blockedBy(j *snapshot.Job) string { return cmp.Or(j.Reason, j.Code, "-") }

func waited(ctx *screenapi.Context, j *snapshot.Job) string {
	if j.Submitted.IsZero() {
		return "-"
	}
	return short(ctx.Now.Sub(j.Submitted))
}

func short(d time.Duration) string { return render.Duration(d) }
