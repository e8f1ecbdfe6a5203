package queues

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/history"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// The heights of the parts below the tree.
const (
	historyHeight = 4
	boxHeight     = 7  // minimum
	narrowLeast   = 4  // without boxes: a rule, facts, next job, history
	narrowMost    = 12 // with nine pending jobs
	roomForBoxes  = 23 // minimum number of lines of the body for drawing boxes
)

// Draw draws the tree and, if there is space, the details of the queue under the cursor.
func (q *Queues) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	rows := max(len(q.table.Rows())+1, 3)
	switch {
	case ctx.W >= 100 && c.H >= roomForBoxes:
		tree, rest := c.Cut(min(rows, c.H-historyHeight-boxHeight))
		q.drawTree(ctx, tree)
		q.drawBoxes(ctx, rest)
	case c.H >= narrowLeast+5:
		tree, rest := c.Cut(c.H - min(max(c.H-rows, narrowLeast), narrowMost))
		q.drawTree(ctx, tree)
		q.drawNarrow(ctx, rest)
	default:
		q.drawTree(ctx, c)
	}
}

// updateScale updates the scale of the bars if it may have changed, and fits the legend into the width.
func (q *Queues) updateScale(ctx *screenapi.Context) {
	name := corev1.ResourceName(ctx.ShownResource())
	if q.resource != name || q.serial != ctx.Snap.Serial || q.scale == 0 {
		q.resource, q.serial, q.scale = name, ctx.Snap.Serial, queuerow.FullBarAmount(ctx.Snap, ctx.Snap.Queues, name)
	}
	for i := range q.table.Columns {
		switch column := &q.table.Columns[i]; column.Key {
		case "BAR":
			column.Title = queuerow.BarLegendText(ctx.Theme.Glyphs, ctx.W >= 100)
		case "QUEUE":
			column.Flex = ctx.Compact // there is no bar that takes the free width
		}
	}
}

func (q *Queues) drawTree(ctx *screenapi.Context, c canvas.Canvas) {
	q.table.Draw(ctx, c, q.emptyReason(ctx))
}

// emptyReason returns the reason why there are no rows.
func (q *Queues) emptyReason(ctx *screenapi.Context) string {
	if why := ctx.UnseenReason("queues"); why != "" {
		return why
	}
	for _, l := range ctx.Snap.Loading {
		if l.Kind == "queues" {
			return "queues are loading ..."
		}
	}
	if len(q.all) > 0 {
		return "no queue matches " + q.text + "   (" + ctx.KeyFor("back", "esc") + " clears)"
	}
	return ctx.EmptyTableText("no queues; create one with: " + ctx.Program + " queue create")
}

func (q *Queues) drawBoxes(ctx *screenapi.Context, c canvas.Canvas) {
	r := q.selectedQueue()
	if r == nil {
		return
	}
	boxes := min(max(len(q.pendingInTree(r))+3, boxHeight), c.H-historyHeight)
	upper, lower := c.Cut(boxes)
	half := c.W / 2
	left := widget.DrawTitledBox(upper.Sub(0, 0, half, boxes), ctx.Theme, r.Name, "")
	for y, one := range q.queueFacts(ctx, r, left.W, left.H) {
		left.Fit(0, y, left.W, one.text, one.style)
	}
	q.drawPending(ctx, widget.DrawTitledBox(upper.Sub(half, 0, c.W-half, boxes), ctx.Theme, "Pending jobs (in scheduling order)", ""), r)
	if tall := min(lower.H, chartHeight); ctx.IsSideBySide() && tall > historyHeight {
		q.drawCharts(ctx, lower.Sub(0, 0, c.W, tall), r)
		return
	}
	inside := widget.DrawTitledBox(lower.Sub(0, 0, c.W, historyHeight), ctx.Theme, r.Name+" over time", "")
	q.drawHistory(ctx, inside, r)
}

// chartHeight is the largest height of the charts beside each other.
const chartHeight = 12

// drawCharts draws the allocated amount and the waiting pod groups over time, side by side.
func (q *Queues) drawCharts(ctx *screenapi.Context, c canvas.Canvas, r *row) {
	allocated, waiting := q.valuesOverTime(ctx, r)
	n := queueNumbers(r.Queue, q.resource)
	full, of := float64(n.Capability), "capability"
	if most := largest(allocated); most > full {
		full, of = most, "highest"
	}
	half := c.W / 2
	draw := func(c canvas.Canvas, title, note string, values []float64, full float64, style canvas.Style) {
		inside := widget.DrawTitledBox(c, ctx.Theme, title, note)
		widget.DrawChart(inside, values, full, style, ctx.Theme)
	}
	top := fmt.Sprintf("now %s, top of scale %s (%s)", formatAmount(q.resource, n.Allocated), formatAmount(q.resource, int64(full)), of)
	draw(c.Sub(0, 0, half, c.H), r.Name+" allocated over time", top, allocated, full, theme.Running)
	note := fmt.Sprintf("now %s, highest %s; %s shows more", widget.FormatCount(r.Waiting), widget.FormatCount(int(largest(waiting))), ctx.KeyFor("history", "t"))
	draw(c.Sub(half, 0, c.W-half, c.H), "Waiting pod groups over time", note, waiting, largest(waiting), theme.Pending)
}

func largest(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values)
}

// valuesOverTime returns the allocated amounts and the numbers of waiting pod groups of a queue since the start of the
// dashboard.
func (q *Queues) valuesOverTime(ctx *screenapi.Context, r *row) (allocated, waiting []float64) {
	allocated = ctx.History.Values(history.Series{Kind: history.Allocated, Queue: r.Name, Resource: q.resource}, ctx.Now)
	return allocated, ctx.History.Values(history.Series{Kind: history.Waiting, Queue: r.Name}, ctx.Now)
}

func (q *Queues) drawHistory(ctx *screenapi.Context, c canvas.Canvas, r *row) {
	allocated, waiting := q.valuesOverTime(ctx, r)
	n := queueNumbers(r.Queue, q.resource)
	draw := func(y int, label string, values []float64, style canvas.Style, last string) int {
		x := c.Put(0, y, label, theme.Dim)
		x = widget.DrawSparkline(c, x, y, max(c.W-x-40, 10), values, style, ctx.Theme)
		return c.Put(x+2, y, last, theme.Plain)
	}
	draw(0, "alloc  ", allocated, theme.Running, formatAmount(q.resource, n.Allocated))
	x := draw(1, "pend   ", waiting, theme.Pending, widget.FormatCount(r.Waiting))
	said := fmt.Sprintf("(%s shows more; 1 cell = %s)", ctx.KeyFor("history", "t"), formatDuration(ctx.History.Step()))
	if x+2+canvas.Width(said) <= c.W {
		c.PutRight(c.W, 1, said, theme.Dim)
	}
}

// drawPending draws the pending jobs in order.
func (q *Queues) drawPending(ctx *screenapi.Context, c canvas.Canvas, r *row) {
	waiting := q.pendingInTree(r)
	if len(waiting) == 0 {
		text := "no waiting jobs"
		if only := ctx.OnlyNamespaces("jobs"); only != "" {
			text += " (jobs: " + only + ")"
		}
		c.Fit(0, 0, c.W, cmp.Or(ctx.UnseenReason("jobs"), text), theme.Dim)
		return
	}
	name := max(c.W-44, 8)
	line := func(y int, place, id, title, prio, wait, needs, blocked string, style canvas.Style) {
		c.Fit(0, y, 3, place, style)
		c.Fit(3, y, 7, id, style)
		c.Fit(11, y, name, title, style)
		widget.FitNumber(c, 12+name, y, 4, prio, style)
		c.FitRight(17+name, y, 5, wait, style)
		c.FitRight(23+name, y, 8, needs, style)
		c.Fit(32+name, y, c.W-32-name, blocked, style)
	}
	line(0, "#", "JOBID", "NAME", "PRIO", "WAIT", "NEEDS", "BLOCKED BY", theme.Head)
	room := c.H - 1
	if len(waiting) > room {
		room--
	}
	for i, j := range waiting[:min(room, len(waiting))] {
		line(i+1, fmt.Sprint(i+1), j.ID, j.Title, j.PriorityText(), waitedText(ctx, j), scarcestRequest(j), blockingReasonOf(ctx, j), theme.Plain)
	}
	if more := len(waiting) - room; more > 0 {
		c.Fit(0, c.H-1, c.W, fmt.Sprintf("%c  %s more (enter)", ctx.Theme.Glyphs.More, widget.FormatCount(more)), theme.Dim)
	}
}

// drawNarrow draws facts, pending jobs and history in a few lines, with the most important first.
func (q *Queues) drawNarrow(ctx *screenapi.Context, c canvas.Canvas) {
	r := q.selectedQueue()
	if r == nil {
		return
	}
	widget.DrawTitledRule(c, 0, ctx.Theme, "", "")
	n := queueNumbers(r.Queue, q.resource)
	facts := fmt.Sprintf("%s  weight %d  guar %s  desv %s  cap %s  alloc %s", r.Name, r.Object.Spec.Weight,
		formatAmount(q.resource, n.Guarantee), formatAmount(q.resource, n.Deserved), formatAmount(q.resource, n.Capability), formatAmount(q.resource, n.Allocated))
	if left, ok := leftToCapability(n); ok {
		facts += "  free " + formatAmount(q.resource, left)
	}
	c.Fit(1, 1, c.W-2, facts, theme.Plain)
	y := 2
	if notes := q.queueNotes(r); len(notes) > 0 {
		c.Fit(1, y, c.W-2, notes[0], theme.Warn)
		y++
	}
	waiting := q.pendingInTree(r)
	for i, j := range waiting[:min(len(waiting), max(c.H-y-1, 1))] {
		lead := "      "
		if i == 0 {
			lead = "next: "
		}
		c.Fit(1, y, c.W-2, fmt.Sprintf("%s%d) %-6s %-16s %8s  %s", lead, i+1, j.ID, c.Shorten(j.Title, 16), scarcestRequest(j), blockingReasonOf(ctx, j)), theme.Plain)
		y++
	}
	if y < c.H {
		allocated, pending := q.valuesOverTime(ctx, r)
		cells := max((c.W-34)/2, 4)
		if ctx.Compact {
			cells = 0
		}
		x := c.Put(1, y, "alloc ", theme.Dim)
		x = widget.DrawSparkline(c, x, y, cells, allocated, theme.Running, ctx.Theme)
		x = c.Put(x+1, y, formatAmount(q.resource, n.Allocated), theme.Plain)
		x = c.Put(x+4, y, "pend ", theme.Dim)
		x = widget.DrawSparkline(c, x, y, cells, pending, theme.Pending, ctx.Theme)
		c.Put(x+1, y, widget.FormatCount(r.Waiting), theme.Plain)
	}
}
