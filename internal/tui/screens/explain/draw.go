package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// boxedH is the number of lines from which each step is shown on its own line.
const boxedH = 26

// Draw draws the explanation.
func (e *Explain) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	if e.job == nil {
		text := "no jobs are waiting"
		if only := ctx.OnlyNamespaces("jobs"); only != "" {
			text += " (jobs: " + only + ")"
		}
		c.Fit(2, 1, c.W-2, cmp.Or(ctx.UnseenReason("jobs"), ctx.EmptyTableText(text)), theme.Dim)
		return
	}
	rest := e.drawJobAndReason(ctx, c)
	steps := e.report.Steps()
	if len(steps) == 0 {
		writeFacts(rest, e.report.Facts())
		return
	}
	if c.H >= boxedH && !ctx.Compact {
		e.drawInBoxes(ctx, rest, steps)
		return
	}
	e.drawAsLines(ctx, rest, steps)
}

// drawJobAndReason draws the job and the reason why it waits, and returns the rest of the canvas.
func (e *Explain) drawJobAndReason(ctx *screenapi.Context, c canvas.Canvas) canvas.Canvas {
	style := theme.Title
	if e.report.IsWaitingJob() {
		style = theme.Pending | canvas.Bold
	}
	c.Fit(2, 0, c.W-3, strings.TrimSpace(e.job.ID+" "+e.report.Headline(render.Style{}, ctx.Now)), style)
	y := 1
	for _, text := range []string{e.report.Why.Message, e.expectedStart(ctx), e.unreadNote()} {
		if text == "" {
			continue
		}
		lines := render.WrapAtBlanks(text, c.W-4)
		for _, line := range lines[:min(len(lines), mostLinesOfText(c.H))] {
			c.Fit(2, y, c.W-3, line, theme.Plain)
			y++
		}
	}
	_, rest := c.Cut(y)
	return rest
}

// mostLinesOfText returns the maximum number of lines of the reason and of the expected start in a canvas of a height.
func mostLinesOfText(height int) int { return max(height/8, 2) }

// unreadNote returns a note if pods and events are relevant but have not been read yet or could not be read.
func (e *Explain) unreadNote() string {
	if _, enough := jobstatus.NewReportWithoutPods(&e.report.Sheet); enough {
		return ""
	}
	if problem := e.read.Problem(); problem != "" {
		return "The job's pods and events could not be read: " + problem
	}
	if e.read.IsFirstReading(e.job) {
		return "Reading the job's pods and events ..."
	}
	return ""
}

// expectedStart returns the expected start and the position in the queue.
func (e *Explain) expectedStart(ctx *screenapi.Context) string {
	var parts []string
	for _, fact := range e.report.Facts() {
		if fact.Name == "order" {
			parts = append(parts, "Position: "+fact.Text+".")
		}
	}
	explanation := e.report.Explanation()
	switch {
	case explanation == nil:
	case explanation.Never:
		parts = append(parts, "It cannot start with its current request.")
	case explanation.EstimatedStart != nil:
		at := explanation.EstimatedStart.Time
		text := "Estimated start: ~" + jobrow.FormatMoment(at, ctx.Now)
		if at.After(ctx.Now) {
			text += " (in " + render.FormatDuration(at.Sub(ctx.Now)) + ")"
		}
		parts = append(parts, strings.TrimSuffix(text+", "+explanation.Estimate, ", ")+".")
	case explanation.Estimate != "":
		parts = append(parts, "Estimated start: "+explanation.Estimate+".")
	}
	return strings.Join(parts, "  ")
}

func writeFacts(c canvas.Canvas, facts []jobstatus.Fact) {
	y := 1
	for _, fact := range facts {
		for i, line := range render.WrapAtBlanks(fact.Text, c.W-14) {
			if i == 0 {
				c.Put(2, y, fact.Name, theme.Dim)
			}
			c.Fit(12, y, c.W-13, line, theme.Plain)
			y++
		}
	}
}

// suggestion is a change that would help, or the general hint.
type suggestion struct {
	text   string
	isHint bool
}

// listSuggestions returns the suggested changes that would let the job start.
func (e *Explain) listSuggestions(ctx *screenapi.Context) []suggestion {
	var lines []suggestion
	for _, help := range e.report.Why.Helps {
		lines = append(lines, suggestion{text: render.ReplaceProgramName(help, ctx.Program)})
	}
	if hint := e.report.HintForProgram(ctx.Program); hint != "" {
		lines = append(lines, suggestion{"hint: " + hint, true})
	}
	return lines
}

// drawInBoxes draws the steps, nodes and suggestions, each of them in a box. On wide terminals, the suggestions are beside
// the steps if they fit; otherwise, the boxes are below each other.
func (e *Explain) drawInBoxes(ctx *screenapi.Context, c canvas.Canvas, steps []jobstatus.Step) {
	_, c = c.Cut(1)
	helps := e.listSuggestions(ctx)
	if ctx.IsSideBySide() {
		upper, lower := c.Cut(len(steps) + 3)
		left := c.W * 5 / 8
		right := upper.Sub(left, 0, c.W-left, upper.H)
		if len(wrapSuggestions(helps, right.W-6)) <= right.H-2 {
			drawSteps(ctx, upper.Sub(0, 0, left, upper.H), steps)
			drawSuggestionBox(ctx, right, helps)
			e.drawNodeBox(ctx, lower)
			return
		}
	}
	part, c := c.Cut(len(steps) + 3)
	drawSteps(ctx, part, steps)
	below := min(max(len(helps), 1)+2, max(c.H/2, 3))
	tally, c := c.Cut(min(max(len(e.nodes.Rows()), 1)+3, c.H-below))
	e.drawNodeBox(ctx, tally)
	part, _ = c.Cut(len(wrapSuggestions(helps, c.W-6)) + 2)
	drawSuggestionBox(ctx, part, helps)
}

// drawSteps draws the steps from the submission to the start, and which of them blocks the job.
func drawSteps(ctx *screenapi.Context, c canvas.Canvas, steps []jobstatus.Step) {
	inside := widget.DrawTitledBox(c, ctx.Theme, "Where it is blocked", "")
	inside.Put(0, 0, "STEP", theme.Head)
	inside.Put(16, 0, "RESULT", theme.Head)
	inside.Put(27, 0, "DETAIL", theme.Head)
	for i, step := range steps {
		inside.Put(0, i+1, fmt.Sprintf("%d %s", i+1, step.Name), theme.Plain)
		inside.Put(16, i+1, string(step.Result), resultStyle(step.Result))
		inside.Fit(27, i+1, inside.W-27, step.Detail, theme.Plain)
	}
}

// drawNodeBox draws the nodes by reason in a box of the needed height.
func (e *Explain) drawNodeBox(ctx *screenapi.Context, c canvas.Canvas) {
	c, _ = c.Cut(max(len(e.nodes.Rows()), 1) + 3)
	note := strings.TrimSpace(describeCount(e.report.Explanation()) + "  enter: show nodes")
	e.nodes.Draw(ctx, widget.DrawTitledBox(c, ctx.Theme, "Nodes by first rejection reason", note), e.noNodesReason())
}

func drawSuggestionBox(ctx *screenapi.Context, c canvas.Canvas, helps []suggestion) {
	drawSuggestions(widget.DrawTitledBox(c, ctx.Theme, "Each of these would start the job", "simulated by the scheduler; no guarantee"), helps)
}

func resultStyle(result jobstatus.Result) canvas.Style {
	switch result {
	case jobstatus.Passed:
		return theme.Good
	case jobstatus.Blocked:
		return theme.Failed | canvas.Bold
	}
	return theme.Dim
}

func (e *Explain) noNodesReason() string {
	if e.report.Explanation() == nil {
		return "the scheduler provided no explanation"
	}
	return "no nodes were checked: an earlier step blocks the job"
}

// wrapSuggestions wraps lines. Continuation lines are indented.
func wrapSuggestions(lines []suggestion, width int) []suggestion {
	var all []suggestion
	for _, line := range lines {
		for i, part := range render.WrapAtBlanks(line.text, width) {
			if i > 0 {
				part = "  " + part
			}
			all = append(all, suggestion{part, line.isHint && i == 0})
		}
	}
	return all
}

func drawSuggestions(c canvas.Canvas, helps []suggestion) {
	if len(helps) == 0 {
		c.Fit(0, 0, c.W, "none of the simulated changes would start the job now", theme.Dim)
	}
	for y, line := range wrapSuggestions(helps, c.W-2) {
		style := theme.Plain
		if line.isHint {
			style = theme.Dim
		}
		c.Fit(0, y, c.W, line.text, style)
	}
}

// drawAsLines draws the same content for small terminals, with the steps side by side.
func (e *Explain) drawAsLines(ctx *screenapi.Context, c canvas.Canvas, steps []jobstatus.Step) {
	x, y := 2, 0
	if c.H > 14 {
		y = 1
	}
	for i, step := range steps {
		text := fmt.Sprintf("%d %s ", i+1, step.Name)
		if x+canvas.Width(text)+len(step.Result) > c.W-1 {
			x, y = 2, y+1
		}
		x = c.Put(x, y, text, theme.Plain)
		x = c.Put(x, y, string(step.Result), resultStyle(step.Result)) + 3
	}
	_, c = c.Cut(y + 1)
	helps := e.listSuggestions(ctx)
	below := min(len(wrapSuggestions(helps, c.W-4))+1, max(c.H/2, 2))
	tally, rest := c.Cut(c.H - below)
	widget.DrawTitledRule(tally, 0, ctx.Theme, "", "")
	e.nodes.Draw(ctx, tally.Sub(0, 1, tally.W, tally.H-1), e.noNodesReason())
	widget.DrawTitledRule(rest, 0, ctx.Theme, "Changes to start the job (simulated)", "")
	drawSuggestions(rest.Sub(2, 1, rest.W-3, rest.H-1), helps)
}
