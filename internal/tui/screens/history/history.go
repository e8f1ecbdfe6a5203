// Package history implements the screen that shows the amounts of a resource since the dashboard started: allocated,
// requested by pending jobs and idle in the whole cluster, or allocated and waiting in one queue.
//
//	In:   Context.History, a resource, a queue or none
//	Out:  charts with a scale; as text the first, lowest, highest and current value
package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/history"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/queuerow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// History is the screen.
type History struct {
	queue string // "" means the whole cluster
}

// ScreenSpec returns the description of the screen. The target is the name of a queue, or "" for the whole cluster.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.History, New: func(queue string) screenapi.Screen { return &History{queue: queue} }, Keys: []screenapi.Binding{
		{Screen: screenapi.History, Key: "m", Name: "resource", Help: "show the next resource", Footer: 20, Do: func(ctx *screenapi.Context, _ screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.SetResource{Resource: ctx.NextResource()}}
		}},
		{Screen: screenapi.History, Key: "t", Name: "close", Help: "close the history", Footer: 21, Do: func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Back{}}
		}},
	}}
}

// OpenBinding returns the key that opens the history from a screen. queue returns the queue to show, or "".
func OpenBinding(screen string, queue func(screenapi.Screen) string) screenapi.Binding {
	return screenapi.Binding{Screen: screen, Key: "t", Name: "history", Help: "show the history since the dashboard started", Footer: 62,
		Do: func(_ *screenapi.Context, s screenapi.Screen) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.History, Target: queue(s)}}
		}}
}

// Name returns the screen's name in the table of keys.
func (h *History) Name() string { return screenapi.History }

// Target returns the queue, or "" for the whole cluster.
func (h *History) Target() string { return h.queue }

// Crumb returns the screen's name in the path.
func (h *History) Crumb(*screenapi.Context) string {
	if h.queue == "" {
		return "History"
	}
	return "History of " + h.queue
}

// Note returns the shown resource.
func (h *History) Note(ctx *screenapi.Context) string {
	return screenapi.ShortResource(ctx.ShownResource()) + " (" + ctx.KeyFor("resource", "m") + ")"
}

// Update handles an event.
func (h *History) Update(*screenapi.Context, screenapi.Event) []screenapi.Effect { return nil }

// chart is one series and how it is drawn.
type chart struct {
	title  string
	series history.Series
	style  canvas.Style
	// full is the amount at the top of the chart, and of describes it.
	full float64
	of   string
}

// charts returns the charts to draw from top to bottom.
func (h *History) charts(ctx *screenapi.Context) []chart {
	name := corev1.ResourceName(ctx.ShownResource())
	if h.queue != "" {
		return h.chartsOfQueue(ctx, name)
	}
	has, _ := noderow.TotalAmount(ctx.Snap.Nodes, name)
	pending := history.Series{Kind: history.Pending, Resource: name}
	all := []chart{
		{title: "Allocated", series: history.Series{Kind: history.Allocated, Resource: name}, style: theme.Running, full: float64(has), of: "allocatable"},
		{title: "Pending", series: pending, style: theme.Pending, full: float64(has), of: "allocatable"},
		{title: "Idle", series: history.Series{Kind: history.Idle, Resource: name}, style: theme.Done, full: float64(has), of: "allocatable"},
	}
	if most := largest(ctx.History.Values(pending, ctx.Now)); most > all[1].full {
		all[1].full, all[1].of = most, "highest value"
	}
	return all
}

// chartsOfQueue returns the charts of the queue. The allocated amount is drawn as a share of the queue's own limit: its
// capability, or else the amount it deserves.
func (h *History) chartsOfQueue(ctx *screenapi.Context, name corev1.ResourceName) []chart {
	allocated := chart{title: "Allocated", series: history.Series{Kind: history.Allocated, Queue: h.queue, Resource: name}, style: theme.Running, of: "highest value"}
	waiting := chart{title: "Waiting pod groups", series: history.Series{Kind: history.Waiting, Queue: h.queue}, style: theme.Pending, of: "highest value"}
	waiting.full = largest(ctx.History.Values(waiting.series, ctx.Now))
	allocated.full = largest(ctx.History.Values(allocated.series, ctx.Now))
	if queue := ctx.Snap.Queue(h.queue); queue != nil {
		numbers := queuerow.NumbersOfQueue(queue, name)
		switch {
		case float64(numbers.Capability) >= allocated.full && numbers.Capability > 0:
			allocated.full, allocated.of = float64(numbers.Capability), "capability"
		case float64(numbers.Deserved) >= allocated.full && numbers.Deserved > 0:
			allocated.full, allocated.of = float64(numbers.Deserved), "deserved"
		}
	}
	return []chart{allocated, waiting}
}

func largest(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return slices.Max(values)
}

// format returns a value of a chart as text.
func (c *chart) format(value float64) string {
	if c.series.Kind == history.Waiting {
		return widget.FormatCount(int(value))
	}
	return render.FormatAmount(c.series.Resource, int64(value))
}

// scaleWidth is the width of the amounts on the left of a chart.
const scaleWidth = 9

// Draw draws the charts below each other, with the time scale at the bottom.
func (h *History) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	charts := h.charts(ctx)
	if ctx.Compact {
		drawInWords(ctx, c, charts)
		return
	}
	upper, scale := c.Cut(c.H - 1)
	for i := range charts {
		var part canvas.Canvas
		part, upper = upper.Cut(upper.H / (len(charts) - i))
		drawOneChart(ctx, part, &charts[i])
	}
	drawTimeScale(ctx, scale)
}

// drawInWords describes the charts, because compact mode has no drawings.
func drawInWords(ctx *screenapi.Context, c canvas.Canvas, charts []chart) {
	y := 0
	for i := range charts {
		text := charts[i].title + ": " + missingReason(ctx)
		if values := ctx.History.Values(charts[i].series, ctx.Now); len(values) > 0 {
			text = charts[i].title + ": " + longNote(&charts[i], values)
		}
		for _, line := range render.WrapAtBlanks(text, c.W-2) {
			c.Fit(1, y, c.W-2, line, theme.Plain)
			y++
		}
	}
}

func drawOneChart(ctx *screenapi.Context, c canvas.Canvas, chart *chart) {
	values := ctx.History.Values(chart.series, ctx.Now)
	title := fmt.Sprintf("%s  %s", chart.title, screenapi.ShortResource(string(chart.series.Resource)))
	if len(values) == 0 {
		widget.DrawTitledRule(c, 0, ctx.Theme, title, "")
		c.Fit(1, 1, c.W-2, missingReason(ctx), theme.Dim)
		return
	}
	note := fmt.Sprintf("now %s of %s", chart.format(values[len(values)-1]), chart.format(chart.full))
	if c.W >= wideNotes {
		note = longNote(chart, values)
	}
	widget.DrawTitledRule(c, 0, ctx.Theme, strings.TrimSpace(title), note)
	if c.H < 2 {
		return
	}
	if chart.full > 0 {
		c.FitRight(0, 1, scaleWidth-1, chart.format(chart.full), theme.Dim)
	}
	if c.H > 2 {
		c.FitRight(0, c.H-1, scaleWidth-1, "0", theme.Dim)
	}
	widget.DrawChart(c.Sub(scaleWidth, 1, c.W-scaleWidth-1, c.H-1), values, chart.full, chart.style, ctx.Theme)
}

// wideNotes is the width of the terminal from which the notes contain the lowest and highest values.
const wideNotes = 100

// longNote describes the values of a chart and its scale.
func longNote(c *chart, values []float64) string {
	return fmt.Sprintf("now %s, lowest %s, highest %s; top of scale: %s (%s)",
		c.format(values[len(values)-1]), c.format(slices.Min(values)), c.format(slices.Max(values)), c.format(c.full), c.of)
}

// missingReason returns the reason why a series has no values.
func missingReason(ctx *screenapi.Context) string {
	for _, kind := range []string{"nodes", "pods", "queues"} {
		if why := ctx.UnseenReason(kind); why != "" {
			return why
		}
	}
	return "no values yet"
}

// drawTimeScale draws the time of the first value on the left, and the current time on the right.
func drawTimeScale(ctx *screenapi.Context, c canvas.Canvas) {
	began := ctx.History.Began()
	if began.IsZero() {
		return
	}
	x := c.Put(scaleWidth, 0, began.In(ctx.Now.Location()).Format(time.TimeOnly), theme.Dim)
	said := fmt.Sprintf("%s since the dashboard started; 1 value every %s", render.FormatDuration(ctx.Now.Sub(began)), render.FormatDuration(ctx.History.Step()))
	c.PutRight(c.W-1, 0, ctx.Now.Format(time.TimeOnly), theme.Dim)
	if room := c.W - x - len(time.TimeOnly) - 5; room >= canvas.Width(said) {
		c.Put(x+(room-canvas.Width(said))/2+2, 0, said, theme.Dim)
	}
}

// Twin returns the values as text.
func (h *History) Twin(ctx *screenapi.Context) string {
	table := render.Table{Header: []string{"AMOUNT", "FIRST", "LOWEST", "HIGHEST", "NOW", "LIMIT"}}
	charts := h.charts(ctx)
	for i := range charts {
		one := &charts[i]
		values := ctx.History.Values(one.series, ctx.Now)
		if len(values) == 0 {
			continue
		}
		table.Rows = append(table.Rows, []string{
			strings.ToLower(one.title), one.format(values[0]), one.format(slices.Min(values)), one.format(slices.Max(values)), one.format(values[len(values)-1]), one.format(one.full) + " (" + one.of + ")",
		})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s since %s\n", h.Crumb(ctx), ctx.ShownResource(), ctx.History.Began().In(ctx.Now.Location()).Format(time.DateTime))
	_ = table.Fprint(&text)
	return text.String()
}
