package overview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/eventrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// block is one part of the screen. It is drawn as a box if there is space, otherwise as lines below a rule.
type block struct {
	title, short, note string
	// want is the preferred and least the minimum number of lines inside.
	want, least int
	draw        func(canvas.Canvas)
	// head draws into the line of the rule if there are no boxes; it may be nil.
	head func(canvas.Canvas)
}

// Draw draws nodes, queues, jobs and events from top to bottom. The jobs get the space that the other blocks do not
// need.
func (o *Overview) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	boxes := ctx.W >= 100 && c.H >= 24
	nodes, queues, jobs, events := o.nodeBlock(ctx, c), o.queueBlock(ctx), o.jobBlock(ctx), o.eventBlock(ctx, 3)
	edge := 1
	if boxes {
		edge = 2
	}
	if !boxes || len(ctx.Snap.Events) == 0 && c.H < 30 {
		events.want = 0
	}
	room := c.H - jobs.least - edge
	nodes.want = min(nodes.want, max(room*2/3, nodes.least))
	room -= nodes.want
	if boxes {
		room -= edge
	}
	queues.want = max(min(queues.want, room-edge-events.want), 0)
	if queues.want < queues.least {
		queues.want = 0
	}
	for _, b := range []block{nodes, queues, jobs, events} {
		height := b.want + edge
		switch {
		case b.title == jobs.title:
			height = c.H
			if events.want > 0 {
				height -= events.want + edge
			}
		case b.want <= 0:
			continue
		case b.title == nodes.title && !boxes:
			height = b.want
		}
		part, rest := c.Cut(height)
		b.draw(drawBlockFrame(ctx, part, b, boxes))
		c = rest
	}
}

// drawBlockFrame draws the box or rule of a block and returns the inside. Without boxes, the nodes do not have a rule,
// either.
func drawBlockFrame(ctx *screenapi.Context, c canvas.Canvas, b block, box bool) canvas.Canvas {
	if box {
		return widget.DrawTitledBox(c, ctx.Theme, b.title, b.note)
	}
	if b.short == "" {
		return c.Sub(1, 0, c.W-2, c.H)
	}
	widget.DrawTitledRule(c, 0, ctx.Theme, b.short, "")
	if b.head != nil {
		b.head(c.Sub(0, 0, c.W, 1))
	}
	return c.Sub(0, 1, c.W, c.H-1)
}

func (o *Overview) jobBlock(ctx *screenapi.Context) block {
	mine := "(mine: M)"
	if ctx.Mine {
		mine = "(only mine: M)"
	}
	if only := ctx.OnlyNamespaces("jobs"); only != "" {
		mine = only + "  " + mine
	}
	counts, short := o.tally.Text(), fmt.Sprintf("%s R %s PD", widget.FormatCount(o.tally.Running), widget.FormatCount(o.tally.Pending))
	if ctx.UnseenReason("jobs") != "" {
		counts, short = "running ?  pending ?", "? R ? PD"
	}
	b := block{
		title: fmt.Sprintf("Jobs  %s  %s", counts, mine), short: "JOBS " + short,
		note: "2 to open", want: 8, least: 4,
	}
	b.draw = func(c canvas.Canvas) { o.jobs.Draw(ctx, c, o.emptyReason(ctx)) }
	return b
}

// emptyReason returns the reason why there are no jobs.
func (o *Overview) emptyReason(ctx *screenapi.Context) string {
	switch unseen := ctx.UnseenReason("jobs"); {
	case unseen != "":
		return unseen
	case o.text != "":
		return "no jobs match the filter; esc clears it"
	case ctx.Mine:
		return "no running or waiting jobs of " + ctx.User + "; M shows all users"
	case ctx.Namespace != "":
		return "no running or waiting jobs in " + ctx.Namespace + "; 0 shows all namespaces"
	}
	return ctx.EmptyTableText("no running or waiting jobs; submit one with: " + ctx.Program + " job run hello --image busybox -- echo hello")
}

func (o *Overview) eventBlock(ctx *screenapi.Context, lines int) block {
	events := eventrow.EventsToShow(ctx)
	b := block{title: "Events", short: "EVENTS", note: "e to open", want: min(lines, max(len(events), 1)), least: 1}
	if only := ctx.OnlyNamespaces("events"); only != "" {
		b.note = only + "  " + b.note
	}
	b.draw = func(c canvas.Canvas) {
		if len(events) == 0 {
			c.Fit(0, 0, c.W, cmp.Or(ctx.UnseenReason("events"), "no events yet"), theme.Dim)
		}
		for y := range min(c.H, len(events)) {
			e := events[len(events)-1-y]
			x := c.Put(0, y, e.At.In(ctx.Now.Location()).Format(time.TimeOnly)+" ", theme.Dim)
			x = c.Put(x, y, eventrow.ObjectText(e)+" ", theme.Plain)
			x = c.Put(x, y, e.Reason+" ", eventrow.TypeStyle(e))
			c.Fit(x, y, c.W-x, eventrow.MessageText(e), theme.Plain)
		}
	}
	return b
}

// Twin returns the blocks as plain text.
func (o *Overview) Twin(ctx *screenapi.Context) string {
	wide := *ctx
	wide.W = 160
	var text strings.Builder
	has, idle := sumAmounts(ctx)
	fmt.Fprintf(&text, "Nodes: %s\n", cmp.Or(ctx.UnseenReason("nodes"), describeCounts(ctx)))
	for i := range has {
		fmt.Fprintf(&text, "  %-16s allocatable %-10s idle %-10s %s\n", has[i].name, has[i].text, idle[i].text, idle[i].percent)
	}
	queues := o.queueBlock(&wide)
	c := canvas.New(118, len(shownQueues(ctx.Snap))+1, ctx.Theme.Glyphs.ASCII)
	queues.draw(c)
	text.WriteString("\nQueues:\n" + c.Text())
	if why := ctx.UnseenReason("jobs"); why != "" {
		return text.String() + "\n" + why + "\n"
	}
	fmt.Fprintf(&text, "\nJobs: %s\n", strings.TrimSuffix(o.tally.Sentence()+", "+ctx.OnlyNamespaces("jobs"), ", "))
	return text.String() + o.jobs.Text(ctx, 156, "none")
}
