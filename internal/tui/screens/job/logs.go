package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// maxStreams is the maximum number of pods followed at once.
const maxStreams = 20

// logPane shows log lines of pods.
type logPane struct {
	widget.NoTable
	pinned bool // follow the newest lines
	wrap   bool
	stamps bool
	// last is the last visible line if the pane is not pinned.
	last   spot
	search string
	// onlyMatches hides lines that are more than contextLines away from a line that contains the search text.
	onlyMatches bool
	found       spot // last line found by a search
	height      int
	drawn       canvas.Canvas
	shown       []screenapi.LogLine // candidates for drawing
	labels      map[string]label
	labelWidth  int
}

// spot identifies a line even if lines that arrive later are sorted before it. It consists of the line's number and,
// in case the line is dropped, its time.
type spot struct {
	serial int // -1 is before all lines, 1<<62 after all lines
	at     time.Time
}

// The positions before and after all lines.
var beforeAll, behindAll = spot{serial: -1}, spot{serial: 1 << 62}

func spotOfLine(line screenapi.LogLine) spot { return spot{line.Serial, line.At} }

// indexOfSpot returns the index of a spot among the shown lines. If the line was dropped or is hidden, it returns the
// index of the last line before it.
func (l *logPane) indexOfSpot(s spot) int {
	switch s {
	case beforeAll:
		return -1
	case behindAll:
		return len(l.shown)
	}
	if at := slices.IndexFunc(l.shown, func(one screenapi.LogLine) bool { return one.Serial == s.serial }); at >= 0 {
		return at
	}
	for at := len(l.shown) - 1; at >= 0; at-- {
		if one := l.shown[at]; one.At.Before(s.at) || (one.At.Equal(s.at) && one.Serial < s.serial) {
			return at
		}
	}
	return -1
}

// contextLines is the number of lines to show before and after a match if other lines are hidden.
const contextLines = 2

// selectLines selects the lines to show. keep selects pods; if nil, the lines of all pods are shown.
func (l *logPane) selectLines(view *screenapi.LogView, keep func(pod string) bool) {
	l.shown = l.shown[:0]
	if view == nil {
		return
	}
	for _, line := range sortByTime(view.Lines) {
		if keep == nil || keep(line.Pod) {
			l.shown = append(l.shown, line)
		}
	}
	if l.onlyMatches && l.search != "" {
		l.shown = l.linesNearMatches(l.shown)
	}
}

// linesNearMatches returns the lines that contain the search text, and the lines around them.
func (l *logPane) linesNearMatches(lines []screenapi.LogLine) []screenapi.LogLine {
	var near []screenapi.LogLine
	next := 0 // index of the first line that has not been added or skipped
	for i, line := range lines {
		if !l.matchesSearch(line) {
			continue
		}
		from, to := max(i-contextLines, next), min(i+contextLines+1, len(lines))
		if from < to {
			near = append(near, lines[from:to]...)
			next = to
		}
	}
	return near
}

// savedText returns the shown lines as text, in the format of `vcctl job logs`.
func (l *logPane) savedText(job *snapshot.Job) string {
	l.assignPodLabels(job)
	var text strings.Builder
	for _, line := range l.shown {
		if l.stamps && !line.At.IsZero() {
			text.WriteString(line.At.Format(time.RFC3339Nano) + " ")
		}
		fmt.Fprintf(&text, "%-*s | %s\n", l.labelWidth, l.labels[line.Pod].text, line.Text)
	}
	return text.String()
}

// sortByTime sorts lines by time, because the earlier lines of multiple pods arrive pod by pod. Lines without a time
// keep their positions.
func sortByTime(lines []screenapi.LogLine) []screenapi.LogLine {
	earlier := func(a, b screenapi.LogLine) int {
		if a.At.IsZero() || b.At.IsZero() {
			return 0
		}
		return a.At.Compare(b.At)
	}
	if slices.IsSortedFunc(lines, earlier) {
		return lines
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, earlier)
	return lines
}

// endOfVisible returns the index after the last visible line.
func (l *logPane) endOfVisible() int {
	if l.pinned {
		return len(l.shown)
	}
	return min(max(l.indexOfSpot(l.last)+1, min(l.height, len(l.shown))), len(l.shown))
}

// Move scrolls by n lines. At the end, it pins the pane to the newest lines again.
func (l *logPane) Move(n int) {
	end := min(max(l.endOfVisible()+n, min(l.height, len(l.shown))), len(l.shown))
	l.pinned = end == len(l.shown)
	l.setLastVisible(end)
}

// setLastVisible makes the line before the index end the last visible one.
func (l *logPane) setLastVisible(end int) {
	l.last = beforeAll
	if end > 0 {
		l.last = spotOfLine(l.shown[end-1])
	}
}

// Page scrolls by n screens.
func (l *logPane) Page(n int) { l.Move(n * max(l.height-1, 1)) }

// Home scrolls to the oldest line.
func (l *logPane) Home() { l.Move(-len(l.shown)) }

// End scrolls to the newest line and follows it.
func (l *logPane) End() { l.pinned = true }

// Mouse scrolls with the wheel.
func (l *logPane) Mouse(_ *screenapi.Context, m screenapi.Mouse) (taken, open bool) {
	if _, _, inside := l.drawn.ContainsCell(m.X, m.Y); !inside {
		return false, false
	}
	switch m.Kind {
	case screenapi.WheelUp:
		l.Move(-3)
	case screenapi.WheelDown:
		l.Move(3)
	}
	return true, false
}

// countMatches returns the number of lines that contain the search text.
func (l *logPane) countMatches() int {
	n := 0
	for _, one := range l.shown {
		if l.matchesSearch(one) {
			n++
		}
	}
	return n
}

func (l *logPane) matchesSearch(one screenapi.LogLine) bool {
	return l.search != "" && strings.Contains(strings.ToLower(one.Text), strings.ToLower(l.search))
}

// MoveToMatch moves from the last match to the next line, up or down, that contains the search text. It reports whether
// there is one.
func (l *logPane) MoveToMatch(down bool) bool {
	at, was := -1, l.indexOfSpot(l.found)
	for i, one := range l.shown {
		if !l.matchesSearch(one) {
			continue
		}
		if down && i > was {
			at = i
			break
		}
		if !down && i < was {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	l.found = spotOfLine(l.shown[at])
	l.centerLine(at)
	return true
}

// centerLine scrolls so that a line is in the middle.
func (l *logPane) centerLine(at int) {
	end := min(max(at+1+l.height/2, min(l.height, len(l.shown))), len(l.shown))
	l.pinned = end == len(l.shown) && at >= len(l.shown)-l.height
	l.setLastVisible(end)
}

// label is the text that precedes the lines of a pod, and its colour.
type label struct {
	text  string
	style canvas.Style
}

// assignPodLabels assigns labels to the pods of a job by their index, and then to other pods that have lines. A pod
// keeps its label even after it is deleted.
func (l *logPane) assignPodLabels(job *snapshot.Job) {
	if l.labels == nil {
		l.labels = map[string]label{}
	}
	add := func(pod string) {
		if _, known := l.labels[pod]; known {
			return
		}
		text := podShortName(job, pod)
		l.labels[pod] = label{text, theme.Log0 + canvas.Style(len(l.labels)%theme.Logs)}
		l.labelWidth = min(max(l.labelWidth, canvas.Width(text)), 20)
	}
	for _, p := range job.Pods {
		add(p.Name)
	}
	for _, one := range l.shown {
		add(one.Pod)
	}
}

// draw draws as many lines as fit, starting with the last one.
func (l *logPane) draw(ctx *screenapi.Context, c canvas.Canvas, job *snapshot.Job, empty string) {
	l.height, l.drawn = c.H, c
	if len(l.shown) == 0 {
		c.Fit(0, 0, c.W, empty, theme.Dim)
		return
	}
	l.assignPodLabels(job)
	var rows []func(int) // from the last line up
	for i := l.endOfVisible() - 1; i >= 0 && len(rows) < c.H; i-- {
		lines := l.layOutLine(ctx, c, l.shown[i])
		slices.Reverse(lines)
		rows = append(rows, lines...)
	}
	rows = rows[:min(len(rows), c.H)]
	for i, row := range rows {
		row(len(rows) - 1 - i)
	}
}

// layOutLine returns the screen rows of a line: a single row, or multiple rows if the line is wrapped.
func (l *logPane) layOutLine(ctx *screenapi.Context, c canvas.Canvas, one screenapi.LogLine) []func(y int) {
	text := widget.PlainText(one.Text)
	who := l.labels[one.Pod]
	stamp := ""
	if l.stamps && !one.At.IsZero() {
		stamp = one.At.In(ctx.Now.Location()).Format("15:04:05 ")
	}
	from := len(stamp) + l.labelWidth + 3
	rows := []string{text}
	if l.wrap {
		rows = splitChunks(text, max(c.W-from, 10))
	}
	lines := make([]func(int), len(rows))
	for i, row := range rows {
		lines[i] = func(y int) {
			if i == 0 {
				c.Put(0, y, stamp, theme.Dim)
				c.Fit(len(stamp), y, l.labelWidth, who.text, who.style)
			}
			c.PutRune(from-2, y, '|', theme.Border)
			c.Fit(from, y, c.W-from, row, theme.Plain)
			l.highlightMatches(c.Sub(from, y, c.W-from, 1), row, spotOfLine(one) == l.found)
		}
	}
	return lines
}

// highlightMatches highlights the search text in a row.
func (l *logPane) highlightMatches(c canvas.Canvas, row string, current bool) {
	if l.search == "" {
		return
	}
	lower, wanted := strings.ToLower(row), strings.ToLower(l.search)
	for from := 0; ; {
		at := strings.Index(lower[from:], wanted)
		if at < 0 || len(lower) != len(row) {
			return
		}
		at += from
		style := canvas.Underline | canvas.Bold
		if current {
			style |= canvas.Reverse
		}
		c.Restyle(canvas.Width(row[:at]), 0, canvas.Width(row[at:at+len(wanted)]), 1, func(s canvas.Style) canvas.Style { return s | style })
		from = at + len(wanted)
	}
}

// splitChunks splits a text into pieces that are at most width cells wide.
func splitChunks(text string, width int) []string {
	var all []string
	from, used := 0, 0
	for at, r := range text {
		if w := canvas.RuneWidth(r); used+w > width {
			all = append(all, text[from:at])
			from, used = at, w
			continue
		}
		used += canvas.RuneWidth(r)
	}
	return append(all, text[from:])
}

// saveLog asks for a file name and saves the shown lines.
func (j *Job) saveLog(ctx *screenapi.Context) []screenapi.Effect {
	j.log.selectLines(ctx.Logs, j.podSelector())
	name := j.job.Name + ".log"
	if j.previous {
		name = j.job.Name + "-previous.log"
	}
	return []screenapi.Effect{widget.AskAndSave("Save the shown log lines?", name, j.log.savedText(j.job), textformat.CountWithNoun(len(j.log.shown), "line"))}
}

// describeView describes which part of the log is visible.
func (l *logPane) describeView(view *screenapi.LogView, failed bool) string {
	var parts []string
	if failed {
		parts = append(parts, "failed pods")
	}
	switch {
	case l.pinned:
		parts = append(parts, "follow")
	default:
		parts = append(parts, "scrolled (end follows)")
	}
	if l.wrap {
		parts = append(parts, "wrap")
	}
	if l.search != "" {
		parts = append(parts, fmt.Sprintf("/%s: %d", l.search, l.countMatches()))
	}
	if l.onlyMatches {
		parts = append(parts, "only matches")
	}
	if view != nil && view.Dropped > 0 {
		parts = append(parts, widget.FormatCount(view.Dropped)+" older lines dropped")
	}
	return strings.Join(parts, ", ")
}

// showsLog reports whether the keys of the log apply: the log is on the whole screen, or is the active part of the
// summary.
func (j *Job) showsLog() bool {
	return j.page == logs || (j.page == summary && j.inLogs)
}
