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

// queueFacts returns the contents of a queue's box, limited to the specified width and number of lines.
func (q *Queues) queueFacts(ctx *screenapi.Context, r *row, width, lines int) []fact {
	spec := &r.Object.Spec
	n := queueNumbers(r.Queue, q.resource)
	all := []fact{
		{fmt.Sprintf("%s  weight %d  priority %d  dequeue %s", r.Name, spec.Weight, spec.Priority, cmp.Or(string(spec.DequeueStrategy), "traverse")), theme.Plain},
		{fmt.Sprintf("guarantee %s   deserved %s   capability %s  (%s)", formatAmount(q.resource, n.Guarantee), formatAmount(q.resource, n.Deserved), formatAmount(q.resource, n.Capability),
			screenapi.ShortResource(string(q.resource))), theme.Plain},
		{q.holdingText(n), theme.Plain},
	}
	for _, note := range q.queueNotes(r) {
		for _, line := range render.WrapAtBlanks(note, width) {
			all = append(all, fact{line, theme.Warn})
		}
	}
	all = append(all, q.otherResources(ctx, r)...)
	return all[:min(len(all), max(lines, 0))]
}

// otherResources returns lines about the resources that the bars do not show.
func (q *Queues) otherResources(ctx *screenapi.Context, r *row) []fact {
	var all []fact
	for _, name := range ctx.Snap.Resources {
		n := queueNumbers(r.Queue, name)
		if name == q.resource || (n.Allocated == 0 && max(n.Guarantee, n.Deserved, n.Capability) < 0) {
			continue
		}
		line := screenapi.ShortResource(string(name)) + ": allocated " + formatAmount(name, n.Allocated)
		for _, bound := range []struct {
			word   string
			amount int64
		}{{"guarantee", n.Guarantee}, {"deserved", n.Deserved}, {"capability", n.Capability}} {
			if bound.amount >= 0 {
				line += "  " + bound.word + " " + formatAmount(name, bound.amount)
			}
		}
		all = append(all, fact{line, theme.Dim})
	}
	return all
}

func (q *Queues) holdingText(n queuerow.Numbers) string {
	line := fmt.Sprintf("allocated %s  inqueue %s", formatAmount(q.resource, n.Allocated), formatAmount(q.resource, n.Admitted))
	if left, ok := leftToCapability(n); ok {
		line += fmt.Sprintf("     %s left to capability", formatAmount(q.resource, left))
	}
	return line
}

// queueNotes returns the information about a queue other than its numbers: jobs that block others, errors, borrowed
// resources, and the last reclaim.
func (q *Queues) queueNotes(r *row) []string {
	var notes []string
	if note := q.forest.Note(r.Object); note != "" {
		notes = append(notes, note)
	}
	if blocker := q.blockingReason(r); blocker != "" {
		notes = append(notes, blocker)
	}
	return notes
}

// blockingReason returns the reason why the first pending job waits if the scheduler has reported it.
func (q *Queues) blockingReason(r *row) string {
	for _, j := range q.pendingInTree(r) {
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

// pendingInTree returns the pending jobs of a queue and its descendants.
func (q *Queues) pendingInTree(r *row) []*snapshot.Job {
	if !r.asked {
		r.waiting, r.asked = q.pendingBelow(r), true
	}
	return r.waiting
}

func (q *Queues) pendingBelow(r *row) []*snapshot.Job {
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
		slices.SortStableFunc(all, snapshot.CompareByTurn)
	}
	return all
}

// scarcestRequest returns the amount that a job requests of its scarcest resource.
func scarcestRequest(j *snapshot.Job) string {
	if j.GPUs > 0 {
		return fmt.Sprintf("%d gpu", j.GPUs)
	}
	if j.Group != nil && j.Group.Spec.MinResources != nil {
		if cpu, ok := (*j.Group.Spec.MinResources)[corev1.ResourceCPU]; ok {
			return render.FormatCores(cpu.MilliValue()) + " cpu"
		}
	}
	return fmt.Sprintf("%d pods", j.Min)
}

// blockingReasonOf returns the reason why a job waits in one word.
func blockingReasonOf(ctx *screenapi.Context, j *snapshot.Job) string {
	if ctx.Words == screenapi.SlurmWords {
		return cmp.Or(j.Reason, j.Code, "-")
	}
	return cmp.Or(j.Code, "-")
}

func waitedText(ctx *screenapi.Context, j *snapshot.Job) string {
	if j.Submitted.IsZero() {
		return "-"
	}
	return formatDuration(ctx.Now.Sub(j.Submitted))
}

func formatDuration(d time.Duration) string { return render.FormatDuration(d) }
