package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Draw draws the rows and, below them, the explanation of the selected job.
func (j *Jobs) Draw(ctx *screenapi.Context, c canvas.Canvas) {
	below := min(max(c.H/4, 4), 10)
	if c.H < 9 {
		below = 0
	}
	rows, rest := c.Cut(c.H - below)
	j.table.Draw(ctx, rows, j.emptyReason(ctx))
	if marked := len(j.table.MarkedRows()); marked > 0 && rows.H > 0 {
		rows.PutRight(rows.W-1, rows.H-1, fmt.Sprintf("  %d marked: %s cancels %s, %s unmarks", marked, ctx.KeyFor("cancel", "x"), pronounForCount(marked), ctx.KeyFor("back", "esc")), theme.Mark)
	}
	if below == 0 {
		return
	}
	widget.DrawTitledRule(rest, 0, ctx.Theme, "", "")
	row, ok := j.table.Selected()
	if !ok {
		return
	}
	left := rest.W - 2
	if ctx.IsSideBySide() && len(row.Job.Pods) > 0 {
		left = rest.W * 5 / 8
		drawPods(ctx, rest.Sub(left+3, 1, rest.W-left-4, rest.H-1), row.Job)
	}
	drawReason(ctx, rest.Sub(1, 1, left, rest.H-1), row.Job)
}

// drawPods draws the pods of a job, those with a problem first.
func drawPods(ctx *screenapi.Context, c canvas.Canvas, job *snapshot.Job) {
	c.Fit(0, 0, c.W, fmt.Sprintf("Pods  %d of %d running", job.Running, job.Replicas), theme.Title)
	pods := slices.Clone(job.Pods)
	slices.SortStableFunc(pods, func(a, b *snapshot.Pod) int { return cmp.Compare(rankPod(a), rankPod(b)) })
	room := c.H - 1
	if len(pods) > room {
		room--
	}
	name := 0
	for _, p := range pods[:max(min(room, len(pods)), 0)] {
		name = max(name, canvas.Width(p.Name))
	}
	name = min(name, c.W/2)
	for i, p := range pods[:max(min(room, len(pods)), 0)] {
		c.Fit(0, i+1, name, p.Name, theme.Plain)
		c.Fit(name+1, i+1, 17, p.State, jobrow.PodStyle(p))
		text := p.Node
		if hasProblem(p) {
			text = strings.TrimSpace(p.Node + "  " + p.Message)
		}
		c.Fit(name+19, i+1, c.W-name-19, text, theme.Plain)
	}
	if more := len(pods) - room; more > 0 && c.H > 1 {
		c.Fit(0, c.H-1, c.W, fmt.Sprintf("%c %s more (enter)", ctx.Theme.Glyphs.More, widget.FormatCount(more)), theme.Dim)
	}
}

func hasProblem(p *snapshot.Pod) bool { return p.Phase == "Failed" || p.Trouble != "" }

// rankPod returns the rank of a pod by its state: pods with a problem come first, then waiting pods, then all others.
func rankPod(p *snapshot.Pod) int {
	switch {
	case hasProblem(p):
		return 0
	case p.Phase == "Pending":
		return 1
	}
	return 2
}

func pronounForCount(n int) string {
	switch n {
	case 1:
		return "it"
	case 2:
		return "both"
	}
	return "all"
}

// emptyReason returns the reason why there are no rows.
func (j *Jobs) emptyReason(ctx *screenapi.Context) string {
	switch unseen := ctx.UnseenReason("jobs"); {
	case j.all > 0:
		return "no jobs match the filter (" + ctx.KeyFor("back", "esc") + " clears it)"
	case unseen != "":
		return unseen
	case ctx.Mine:
		return ctx.EmptyTableText(fmt.Sprintf("%s has no jobs (%s shows the jobs of all users)", ctx.User, ctx.KeyFor("mine", "M")))
	case ctx.Namespace != "":
		return ctx.EmptyTableText(fmt.Sprintf("no jobs in namespace %s (%s shows all namespaces)", ctx.Namespace, ctx.KeyFor("all namespaces", "0")))
	}
	return ctx.EmptyTableText("no jobs; submit one with sbatch or 'vcctl job run'")
}

// nameWidth is the width of the names of facts.
const nameWidth = 10

// drawReason draws the state of the job in words, as in `vcctl job explain`.
func drawReason(ctx *screenapi.Context, c canvas.Canvas, job *snapshot.Job) {
	a := jobrow.SnapshotReport(ctx.Snap, job)
	title := strings.TrimSpace(job.ID + " " + a.Headline(render.Style{}, ctx.Now))
	c.Fit(1, 0, c.W-1, title, theme.Title)
	if room := c.W - 4 - canvas.Width(title); room > len(snapshotAge(ctx)) {
		c.PutRight(c.W, 0, snapshotAge(ctx), theme.Dim)
	}
	facts := listJobFacts(ctx, job, a)
	lines := wrapWithin(a.Why.Message, c.W-4, max(c.H-1-len(facts), 2))
	y := 1
	for _, line := range lines[:min(len(lines), c.H-1)] {
		c.Fit(3, y, c.W-3, line, theme.Plain)
		y++
	}
	spare := c.H - y - len(facts) // lines that no fact needs
	for _, fact := range facts {
		if y >= c.H {
			return
		}
		c.Put(3, y, fact.Name, theme.Dim)
		lines := wrapWithin(fact.Text, c.W-3-nameWidth, 1+max(spare, 0))
		for _, line := range lines {
			c.Fit(3+nameWidth, y, c.W-3-nameWidth, line, theme.Plain)
			y++
		}
		spare -= max(len(lines)-1, 0)
	}
}

// wrapWithin wraps a text into at most the specified number of lines. If it needs more, the last line holds the rest of
// the text, which is cut off when it is drawn. It returns no lines for an empty text.
func wrapWithin(text string, width, most int) []string {
	if text == "" {
		return nil
	}
	lines := render.WrapAtBlanks(text, width)
	if len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	return lines
}

// listJobFacts returns the facts about a job. The first fact is the job's nodes or, if it has none, its estimated start.
func listJobFacts(ctx *screenapi.Context, job *snapshot.Job, a *jobstatus.Report) []jobstatus.Fact {
	all := a.Facts()
	if job.NodeList != "" {
		where := jobstatus.Fact{Name: "nodes", Text: job.NodeList}
		if left := jobrow.TimeLeftText(job, ctx.Now); left != "" {
			where.Text += ", " + left + " left until the time limit"
		}
		all = append([]jobstatus.Fact{where}, all...)
	}
	if job.Running+job.Waiting+job.Failed > 0 && a.Explanation() == nil {
		all = append(all, jobstatus.Fact{Name: "pods", Text: fmt.Sprintf("%d of %d running, %d waiting, %d failed", job.Running, job.Replicas, job.Waiting, job.Failed)})
	}
	for i, fact := range all {
		if fact.Name == "start" && i > 0 {
			copy(all[1:i+1], all[:i])
			all[0] = fact
		}
	}
	return all
}
