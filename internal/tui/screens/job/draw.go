package job

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// The numbers of columns and lines from which the parts are drawn in boxes.
const (
	boxedW = 100
	boxedH = 28
)

// Draw draws the open page.
func (j *Job) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	if j.job == nil {
		c.Fit(2, 1, c.W-2, ctx.EmptyTableText("this job does not exist; esc goes back"), theme.Dim)
		return
	}
	j.log.selectLines(ctx.Logs, j.podSelector())
	switch j.page {
	case podList:
		j.drawPods(ctx, c)
	case events:
		widget.DrawTitledRule(c, 0, ctx.Theme, "Events", "")
		_, rest := c.Cut(1)
		j.lines.Draw(rest.Sub(1, 0, rest.W-2, rest.H), j.eventLines(ctx), j.noEventsReason(ctx, " (events are kept for an hour)"))
	case logs:
		widget.DrawTitledRule(c, 0, ctx.Theme, "Logs  "+j.describeStreams(), j.log.describeView(ctx.Logs, j.failed))
		_, rest := c.Cut(1)
		j.log.draw(ctx, rest, j.job, j.noLogReason(ctx))
	case manifest:
		widget.DrawTitledRule(c, 0, ctx.Theme, "Job as stored in the cluster", "y copies")
		_, rest := c.Cut(1)
		empty := "reading the job ..."
		if !j.asked {
			empty = "the job could not be read (press Y to try again)"
		}
		var text []string
		if j.yaml != "" {
			text = strings.Split(strings.TrimRight(j.yaml, "\n"), "\n")
		}
		j.lines.Draw(rest.Sub(1, 0, rest.W-2, rest.H), text, empty)
	default:
		if ctx.W >= boxedW && c.H >= boxedH {
			j.drawBoxes(ctx, c)
		} else {
			j.drawLines(ctx, c)
		}
	}
}

// describePodCounts returns the numbers of the job's pods by state.
func (j *Job) describePodCounts() string {
	text := fmt.Sprintf("%d of %d running, %d waiting, %d failed", j.job.Running, j.job.Replicas, j.job.Waiting, j.job.Failed)
	if j.job.Succeeded > 0 {
		text += fmt.Sprintf(", %d succeeded", j.job.Succeeded)
	}
	return text
}

func (j *Job) podsBoxNote(ctx *screenapi.Context) string {
	if j.failed {
		return ctx.KeyFor("failed only", "f") + ": all pods"
	}
	return ctx.KeyFor("failed only", "f") + ": failed only"
}

func (j *Job) noPodsReason(ctx *screenapi.Context) string {
	switch {
	case j.failed:
		return "no failed or blocked pods (" + ctx.KeyFor("failed only", "f") + " shows all)"
	case j.filter != "":
		return "no pods match the filter (" + ctx.KeyFor("back", "esc") + " clears it)"
	case jobstatus.IsFinishedPhase(j.job.Phase):
		return "the job's pods were deleted"
	case clusterops.IsSuspended(j.job.Phase):
		return "the job's pods were stopped"
	}
	return "no pods yet: pods are created when the job is admitted to its queue"
}

// noLogReason returns the reason why there are no log lines.
func (j *Job) noLogReason(ctx *screenapi.Context) string {
	switch {
	case len(j.job.Pods) == 0 && jobstatus.IsFinishedPhase(j.job.Phase):
		return "the job's pods were deleted together with their logs"
	case len(j.followed) == 0 && len(j.only) == 1:
		return "the pod has not started, so there is no log yet"
	case len(j.followed) == 0 && j.only != nil:
		return "none of the marked pods has started, so there are no logs yet"
	case len(j.followed) == 0:
		return "no pod has started, so there are no logs yet"
	case j.failed:
		return "no logs of failed pods (f shows all)"
	}
	if ctx.Logs != nil {
		for _, p := range j.job.Pods {
			if why := ctx.Logs.Streams[p.Name]; why != "" {
				return podShortName(j.job, p.Name) + ": " + why
			}
		}
	}
	return "no output yet"
}

func (j *Job) drawPods(ctx *screenapi.Context, c canvas.Canvas) {
	widget.DrawTitledRule(c, 0, ctx.Theme, "Pods  "+j.describePodCounts(), j.podsBoxNote(ctx))
	_, rest := c.Cut(1)
	j.pods.Draw(ctx, rest, j.noPodsReason(ctx))
}

// factIndent is the column at which the texts of the job's facts begin.
const factIndent = 11

// leastSummary is the number of lines that the boxes about the job may always occupy. On tall terminals, they may occupy
// more.
const leastSummary = 11

// wrapFacts wraps facts that are longer than a line. Continuation lines have no name.
func wrapFacts(facts []jobstatus.Fact, width int) []jobstatus.Fact {
	var lines []jobstatus.Fact
	for _, fact := range facts {
		if canvas.Width(fact.Text) <= width { // it may contain aligned columns
			lines = append(lines, fact)
			continue
		}
		for i, text := range render.WrapAtBlanks(fact.Text, max(width, 1)) {
			if i > 0 {
				fact.Name = ""
			}
			lines = append(lines, jobstatus.Fact{Name: fact.Name, Text: text})
		}
	}
	return lines
}

// drawBoxes draws the summary as boxes.
func (j *Job) drawBoxes(ctx *screenapi.Context, c canvas.Canvas) {
	left := c.W * 61 / 120
	facts, way := wrapFacts(listJobFacts(ctx, j.job), left-4-factIndent), timelineLines(ctx, j.job)
	head, rest := c.Cut(min(max(len(facts), len(way))+2, max(leastSummary, c.H*2/5)))
	fact := widget.DrawTitledBox(head.Sub(0, 0, left, head.H), ctx.Theme, "Job", "")
	for y, line := range facts {
		fact.Put(0, y, line.Name, theme.Dim)
		style := theme.Plain
		if y == 0 {
			style = jobrow.StateStyle(j.job.State)
		}
		fact.Fit(factIndent, y, fact.W-factIndent, line.Text, style)
	}
	drawTimeline(widget.DrawTitledBox(head.Sub(left, 0, head.W-left, head.H), ctx.Theme, "Timeline", ""), way)

	pods, lines, events := splitSummary(rest, ctx.IsSideBySide())
	table := *ctx
	table.W = min(ctx.W, pods.W) // the columns of a narrow table if other panels are beside it
	j.pods.Draw(&table, widget.DrawTitledBox(pods, ctx.Theme, "Pods  "+j.describePodCounts(), j.podsBoxNote(ctx)), j.noPodsReason(ctx))
	title := "Logs  " + j.describeStreams()
	if j.inLogs {
		title = "> " + title
	}
	j.log.draw(ctx, widget.DrawTitledBox(lines, ctx.Theme, title, j.log.describeView(ctx.Logs, j.failed)), j.job, j.noLogReason(ctx))
	j.drawLastEvents(ctx, widget.DrawTitledBox(events, ctx.Theme, "Events", "e all"))
}

// splitSummary returns the parts of the summary for pods, logs and events. Side by side, the logs and events are to the
// right of the pods.
func splitSummary(c canvas.Canvas, isSideBySide bool) (pods, logs, events canvas.Canvas) {
	if isSideBySide {
		left := c.W * 5 / 8 // so that the names of the pods are shown
		right := c.Sub(left, 0, c.W-left, c.H)
		logs, events = right.Cut(right.H - max(right.H/4, 4))
		return c.Sub(0, 0, left, c.H), logs, events
	}
	below := c.H / 3
	pods, rest := c.Cut(c.H - below)
	logs, events = rest.Cut(below - max(below*2/5, 4))
	return pods, logs, events
}

// drawLines draws the summary for small terminals.
func (j *Job) drawLines(ctx *screenapi.Context, c canvas.Canvas) {
	head := briefFacts(ctx, j.job)
	if c.H < 16 {
		head = head[:min(len(head), 2)]
	}
	for y, line := range head {
		style := theme.Plain
		if y == 0 {
			style = jobrow.StateStyle(j.job.State)
		}
		c.Fit(1, y, c.W-1, line, style)
	}
	_, rest := c.Cut(len(head))
	logLines, eventLines := 4, 2
	if c.H < 16 {
		logLines, eventLines = 3, 0
	}
	pods, rest := rest.Cut(rest.H - logLines - eventLines)
	widget.DrawTitledRule(pods, 0, ctx.Theme, "", "")
	j.pods.Draw(ctx, pods.Sub(0, 1, pods.W, pods.H-1), j.noPodsReason(ctx))
	lines, events := rest.Cut(logLines)
	title := ""
	if j.inLogs {
		title = "Logs"
		lines.SetCursor(0, 1)
	}
	widget.DrawTitledRule(lines, 0, ctx.Theme, title, "")
	j.log.draw(ctx, lines.Sub(1, 1, lines.W-1, lines.H-1), j.job, j.noLogReason(ctx))
	if eventLines > 0 {
		widget.DrawTitledRule(events, 0, ctx.Theme, "", "")
		j.drawLastEvents(ctx, events.Sub(1, 1, events.W-1, events.H-1))
	}
}

// drawLastEvents draws the last events.
func (j *Job) drawLastEvents(ctx *screenapi.Context, c canvas.Canvas) {
	lines := j.eventLines(ctx)
	if len(lines) == 0 {
		c.Fit(0, 0, c.W, j.noEventsReason(ctx, ""), theme.Dim)
	}
	lines = lines[max(len(lines)-c.H, 0):]
	for y, line := range lines {
		c.Fit(0, y, c.W, line, theme.Plain)
	}
}

// noEventsReason returns the reason why there are no events. If no reason is known, the text includes more.
func (j *Job) noEventsReason(ctx *screenapi.Context, more string) string {
	if problem := j.reading.Problem(); problem != "" {
		return "the events could not be read: " + problem
	}
	if j.reading.IsFirstReading(j.job) {
		return "reading the events ..."
	}
	if unseen := ctx.UnseenReason("events"); unseen != "" {
		return unseen
	}
	return "no events" + more
}

// eventLines returns the events about the job with the newest last, followed by a note if there may be other events.
func (j *Job) eventLines(ctx *screenapi.Context) []string {
	job := j.job
	var lines []string
	for _, e := range j.reading.ReadAndLiveEvents(ctx.Snap, job) {
		about := e.Kind
		switch {
		case e.Of == job.UID:
			about = "job"
		case e.Kind == "PodGroup":
			about = "pod group"
		case e.Kind == "Pod":
			about = podShortName(job, e.Name)
		}
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" x%d", e.Count)
		}
		lines = append(lines, fmt.Sprintf("%s %-7s %s%s  %s: %s", e.At.In(ctx.Now.Location()).Format("15:04:05"), e.Type, e.Reason, times, about, e.Message))
	}
	if problem := j.reading.Problem(); problem != "" && len(lines) > 0 {
		lines = append(lines, "some events may be missing: "+problem)
	}
	return lines
}
