package overview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
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
	// beside is drawn to the right of the block; it may be nil.
	beside *block
}

// queueBoxWidth returns the width of the box of queues if the events are beside it.
func queueBoxWidth(width int) int { return width * 5 / 8 }

// Draw draws nodes, queues, jobs and events from top to bottom. The jobs get the space that the other blocks do not
// need. On wide terminals, the events are beside the queues.
func (o *Overview) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	boxes := ctx.W >= 100 && c.H >= 24
	nodes, queues, jobs, events := addUseLine(ctx, o.nodeBlock(ctx, c)), o.queueBlock(ctx), o.jobBlock(ctx), o.eventBlock(ctx, 3)
	edge := 1
	if boxes {
		edge = 2
	}
	if !boxes || (len(ctx.Snap.Events) == 0 && c.H < 30) {
		events.want = 0
	}
	if boxes && ctx.IsSideBySide() && events.want > 0 {
		queues = o.queuesBesideEvents(ctx, queues)
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
		if b.beside != nil {
			left := queueBoxWidth(part.W)
			drawBlock(ctx, part.Sub(left, 0, part.W-left, part.H), *b.beside, boxes)
			part = part.Sub(0, 0, left, part.H)
		}
		drawBlock(ctx, part, b, boxes)
		c = rest
	}
}

// queuesBesideEvents returns a block of queues with as many lines as the queues or three events need, and with the
// events beside it.
func (o *Overview) queuesBesideEvents(ctx *screenapi.Context, queues block) block {
	queues.want = max(queues.want, 3)
	events := o.eventBlock(ctx, queues.want)
	queues.beside = &events
	return queues
}

func drawBlock(ctx *screenapi.Context, c canvas.Canvas, b block, boxes bool) {
	b.draw(drawBlockFrame(ctx, c, b, boxes))
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
	counts, short := o.tally.Text(), fmt.Sprintf("%s running %s pending", widget.FormatCount(o.tally.Running), widget.FormatCount(o.tally.Pending))
	if ctx.UnseenReason("jobs") != "" {
		counts, short = "running ?  pending ?", "? running ? pending"
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
		return "no running or waiting jobs of " + ctx.User + "; " + ctx.KeyFor("mine", "M") + " shows all users"
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
		drawNewestEvents(ctx, c, events)
	}
	return b
}

// drawNewestEvents draws the newest events first. Long messages are wrapped as long as there are more lines than
// events.
func drawNewestEvents(ctx *screenapi.Context, c canvas.Canvas, events []*snapshot.Event) {
	const indent = 9 // below the object
	spare := c.H - len(events)
	for i, y := len(events)-1, 0; i >= 0 && y < c.H; i-- {
		e := events[i]
		x := c.Put(0, y, e.At.In(ctx.Now.Location()).Format(time.TimeOnly)+" ", theme.Dim)
		x = c.Put(x, y, eventrow.ObjectText(e)+" ", theme.Plain)
		x = c.Put(x, y, e.Reason+" ", eventrow.TypeStyle(e))
		message := eventrow.MessageText(e)
		if x+canvas.Width(message) <= c.W || spare <= 0 {
			c.Fit(x, y, c.W-x, message, theme.Plain)
			y++
			continue
		}
		lines := render.WrapAtBlanks(message, c.W-indent)
		if len(lines) > spare {
			lines = append(lines[:spare-1], strings.Join(lines[spare-1:], " "))
		}
		for j, line := range lines {
			c.Fit(indent, y+1+j, c.W-indent, line, theme.Plain)
		}
		y, spare = y+1+len(lines), spare-len(lines)
	}
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
	if use := useText(ctx); use != "" {
		text.WriteString("  " + use + "\n")
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
