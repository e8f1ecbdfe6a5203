package overview

import (
	"cmp"
	"fmt"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

func (o *Overview) queueBlock(ctx *screenapi.Context) block {
	shown := shownQueues(ctx.Snap)
	resource := screenapi.ShortResource(ctx.ShownResource())
	b := block{
		title: "Queues", note: "3 to open", want: len(shown) + 1, least: min(len(shown), 2) + 1,
		short: fmt.Sprintf("QUEUES (%s)  %s", resource, queuerow.BarLegendText(ctx.Theme.Glyphs, false)),
	}
	if ctx.Snap.Policy != "" {
		b.title = "Queues (" + ctx.Snap.Policy + ")"
	}
	if len(shown) == 0 {
		b.want = 1
		if ctx.W < 100 {
			b.want = 0
		}
	}
	if ctx.W < 80 || ctx.Compact {
		b.short = fmt.Sprintf("QUEUES (%s)", resource)
	}
	if ctx.W < 100 {
		b.want, b.least = len(shown), min(len(shown), 2)
		b.head = func(c canvas.Canvas) { drawColumns(c, 0, drawNarrowBar(c.W).to, false, theme.Head, heads...) }
		b.draw = func(c canvas.Canvas) { drawQueues(ctx, c, shown, drawNarrowBar(c.W)) }
		return b
	}
	b.draw = func(c canvas.Canvas) {
		at := drawWideBar(c.W)
		drawColumns(c, 0, at.to, true, theme.Head, heads...)
		c.Put(0, 0, "QUEUE", theme.Head)
		legend := resource + " " + queuerow.BarLegendText(ctx.Theme.Glyphs, true)
		if canvas.Width(legend) > at.to-at.from {
			legend = resource + " " + queuerow.BarLegendText(ctx.Theme.Glyphs, false)
		}
		c.Fit(at.from, 0, at.to-at.from, legend, theme.Dim)
		drawQueues(ctx, c.Sub(0, 1, c.W, c.H-1), shown, at)
	}
	return b
}

// heads holds the titles of the number columns.
var heads = []string{"ALLOC", "DESV", "CAP", "RUN", "PEND", "HEAD WAIT", "STATE"}

// place is the position of the bars, the names before them, and the numbers after them.
type place struct {
	name, from, to int
	wide           bool
}

func drawWideBar(w int) place   { return place{0, 15, max(w-55, 19), true} }
func drawNarrowBar(w int) place { return place{1, 10, max(w-29, 14), false} }

// drawQueues draws one line per queue.
func drawQueues(ctx *screenapi.Context, c canvas.Canvas, shown []*snapshot.Queue, at place) {
	if len(shown) == 0 {
		c.Fit(at.name, 0, c.W, ctx.EmptyTableText("the cluster has no queues"), theme.Dim)
		return
	}
	name := resourceName(ctx)
	scale := queuerow.FullBarAmount(ctx.Snap, shown, name)
	for y, q := range shown[:min(len(shown), c.H)] {
		if y == c.H-1 && len(shown) > c.H {
			c.Fit(at.name, y, c.W, fmt.Sprintf("%c %d more below (3)", ctx.Theme.Glyphs.More, len(shown)-y), theme.Dim)
			return
		}
		title := q.Name
		if at.wide {
			title = queuePathText(ctx.Snap, q)
		}
		n := queuerow.NumbersOfQueue(q, name)
		if ctx.Compact {
			c.Fit(at.name, y, at.to-at.name-1, title, theme.Plain)
		} else {
			c.Fit(at.name, y, at.from-at.name-1, title, theme.Plain)
			queuerow.NewUsageBar(n, scale).Draw(c, at.from, y, at.to-at.from, ctx.Theme)
		}
		drawColumns(c, y, at.to, at.wide, theme.Plain, queuerow.FormatAmount(name, n.Allocated), queuerow.FormatAmount(name, n.Deserved), queuerow.FormatAmount(name, n.Capability),
			fmt.Sprint(q.Running), fmt.Sprint(q.Waiting), firstWaitTime(ctx, q), cmp.Or(string(q.State), "-"))
	}
}

// firstWaitTime returns the waiting time of the first job in a queue. If the user sees only some of the jobs, it is a
// lower bound.
func firstWaitTime(ctx *screenapi.Context, q *snapshot.Queue) string {
	_, hidden := ctx.Snap.HiddenKind("jobs")
	first := snapshot.CachedValue(ctx.Snap, memo("first in "+q.Name), func() *snapshot.Job { return firstPending(ctx.Snap, q.Name) })
	switch {
	case first == nil && hidden && q.Waiting > 0:
		return "?"
	case first == nil:
		return "-"
	case hidden:
		return ">" + widget.FormatDuration(ctx.Now.Sub(first.Submitted))
	}
	return widget.FormatDuration(ctx.Now.Sub(first.Submitted))
}

// firstPending returns the job that has waited longest in a queue or its descendants, or nil. It ignores jobs that
// are held or requeued, because the queue's number of pending jobs does not include them.
func firstPending(snap *snapshot.Snapshot, name string) *snapshot.Job {
	var first *snapshot.Job
	inside := false
	depth := 0
	for _, q := range snap.Queues {
		switch {
		case q.Name == name:
			inside, depth = true, q.Depth
		case inside && q.Depth <= depth:
			return first
		}
		if !inside {
			continue
		}
		for _, job := range q.Pending {
			var t jobrow.Tally
			if t.Add(jobrow.Row{Job: job}); t.Pending > 0 && (first == nil || job.Submitted.Before(first.Submitted)) {
				first = job
			}
		}
	}
	return first
}

// drawColumns draws the numbers of a line to the right of x. The last two are drawn only on wide terminals.
func drawColumns(c canvas.Canvas, y, x int, wide bool, style canvas.Style, texts ...string) {
	widths := []int{6, 5, 5, 5, 5}
	if wide {
		widths = []int{8, 8, 8, 6, 6, 10}
	}
	for i, text := range texts {
		if i >= len(widths) {
			if wide {
				c.Fit(x+2, y, c.W-x-2, text, style)
			}
			return
		}
		use := style
		if text == "0" || text == "-" {
			use = theme.Dim
		}
		widget.FitNumber(c, x+1, y, widths[i]-1, text, use)
		x += widths[i]
	}
}
