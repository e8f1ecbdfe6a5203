package job

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screen"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// maxStreams is how many pods are followed at once.
const maxStreams = 20

// logPane shows the lines that arrive from pods.
type logPane struct {
	plain
	pinned bool // the newest lines are shown
	wrap   bool
	stamps bool
	// last is the last line that is shown, while not pinned.
	last       spot
	search     string
	found      spot // the line that was found last
	height     int
	drawn      canvas.Canvas
	shown      []screen.LogLine // what Draw had to choose from
	labels     map[string]label
	labelWidth int
}

// spot is a line that one wants to find again, whatever arrives before it in the order of
// times: its number as it arrived, and its time for when it is not there any more.
type spot struct {
	serial int // -1 is before all lines, 1<<62 behind them
	at     time.Time
}

// Before and behind all lines.
var beforeAll, behindAll = spot{serial: -1}, spot{serial: 1 << 62}

func spotOf(line screen.LogLine) spot { return spot{line.Serial, line.At} }

// place is where a spot is in the lines that are shown: of a line that is dropped or not
// shown now, that of the last one that is not later.
func (l *logPane) place(s spot) int {
	switch s {
	case beforeAll:
		return -1
	case behindAll:
		return len(l.shown)
	}
	if at := slices.IndexFunc(l.shown, func(one screen.LogLine) bool { return one.Serial == s.serial }); at >= 0 {
		return at
	}
	for at := len(l.shown) - 1; at >= 0; at-- {
		if one := l.shown[at]; one.At.Before(s.at) || one.At.Equal(s.at) && one.Serial < s.serial {
			return at
		}
	}
	return -1
}

// escapes are what programs write to colour their output.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)?|\x1b.?")

// plainText is a line as it can be drawn: without escapes, with blanks for tabs.
func plainText(text string) string {
	if strings.ContainsRune(text, '\x1b') {
		text = escapes.ReplaceAllString(text, "")
	}
	text = strings.TrimRight(text, "\r\n")
	text = text[strings.LastIndexByte(text, '\r')+1:] // what is written over is not seen in a terminal either
	return strings.ReplaceAll(text, "\t", "    ")
}

// take chooses the lines to show; keep says of which pods, nil of all.
func (l *logPane) take(view *screen.LogView, keep func(pod string) bool) {
	l.shown = l.shown[:0]
	if view == nil {
		return
	}
	for _, line := range inTime(view.Lines) {
		if keep == nil || keep(line.Pod) {
			l.shown = append(l.shown, line)
		}
	}
}

// inTime puts lines in the order in which they were written: what several pods wrote
// before arrives pod by pod. Lines without a time stay where they are.
func inTime(lines []screen.LogLine) []screen.LogLine {
	earlier := func(a, b screen.LogLine) int {
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

// end is the place in shown after the last line that is drawn.
func (l *logPane) end() int {
	if l.pinned {
		return len(l.shown)
	}
	return min(max(l.place(l.last)+1, min(l.height, len(l.shown))), len(l.shown))
}

// Move scrolls; at the end the pane is pinned again.
func (l *logPane) Move(n int) {
	end := min(max(l.end()+n, min(l.height, len(l.shown))), len(l.shown))
	l.pinned = end == len(l.shown)
	l.stay(end)
}

// stay keeps the line before a place the last one that is shown.
func (l *logPane) stay(end int) {
	l.last = beforeAll
	if end > 0 {
		l.last = spotOf(l.shown[end-1])
	}
}

// Page, Home and End scroll further.
func (l *logPane) Page(n int) { l.Move(n * max(l.height-1, 1)) }

// Home goes to the oldest line that is kept.
func (l *logPane) Home() { l.Move(-len(l.shown)) }

// End goes to the newest line and stays there.
func (l *logPane) End() { l.pinned = true }

// Mouse scrolls with the wheel.
func (l *logPane) Mouse(_ *screen.Context, m screen.Mouse) (taken, open bool) {
	if _, _, inside := l.drawn.Holds(m.X, m.Y); !inside {
		return false, false
	}
	switch m.Kind {
	case screen.WheelUp:
		l.Move(-3)
	case screen.WheelDown:
		l.Move(3)
	}
	return true, false
}

// matches is how many of the lines that can be shown hold what is searched for.
func (l *logPane) matches() int {
	n := 0
	for _, one := range l.shown {
		if l.holds(one) {
			n++
		}
	}
	return n
}

func (l *logPane) holds(one screen.LogLine) bool {
	return l.search != "" && strings.Contains(strings.ToLower(one.Text), strings.ToLower(l.search))
}

// find goes to the next line that holds what is searched for, down or up from the one
// found last; it says whether there is one.
func (l *logPane) find(down bool) bool {
	at, was := -1, l.place(l.found)
	for i, one := range l.shown {
		if !l.holds(one) {
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
	l.found = spotOf(l.shown[at])
	l.show(at)
	return true
}

// show scrolls until a line is in the middle.
func (l *logPane) show(at int) {
	end := min(max(at+1+l.height/2, min(l.height, len(l.shown))), len(l.shown))
	l.pinned = end == len(l.shown) && at >= len(l.shown)-l.height
	l.stay(end)
}

// label is what stands before the lines of a pod, and in which colour.
type label struct {
	text  string
	style canvas.Style
}

// name gives the pods of a job their labels, by their place in it, and then any other
// pod whose lines are shown; once given, a label stays, also when the pod is gone.
func (l *logPane) name(job *snapshot.Job) {
	if l.labels == nil {
		l.labels = map[string]label{}
	}
	add := func(pod string) {
		if _, known := l.labels[pod]; known {
			return
		}
		text := short(job, pod)
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

// draw draws as many lines as there is room for, up from the last.
func (l *logPane) draw(ctx *screen.Context, c canvas.Canvas, job *snapshot.Job, empty string) {
	l.height, l.drawn = c.H, c
	if len(l.shown) == 0 {
		c.Fit(0, 0, c.W, empty, theme.Dim)
		return
	}
	l.name(job)
	var rows []func(int) // from the last line up
	for i := l.end() - 1; i >= 0 && len(rows) < c.H; i-- {
		lines := l.lay(ctx, c, l.shown[i])
		slices.Reverse(lines)
		rows = append(rows, lines...)
	}
	rows = rows[:min(len(rows), c.H)]
	for i, row := range rows {
		row(len(rows) - 1 - i)
	}
}

// lay makes the rows of a line on the screen: one, or several when it is wrapped.
func (l *logPane) lay(ctx *screen.Context, c canvas.Canvas, one screen.LogLine) []func(y int) {
	text := plainText(one.Text)
	who := l.labels[one.Pod]
	stamp := ""
	if l.stamps && !one.At.IsZero() {
		stamp = one.At.In(ctx.Now.Location()).Format("15:04:05 ")
	}
	from := len(stamp) + l.labelWidth + 3
	rows := []string{text}
	if l.wrap {
		rows = chunks(text, max(c.W-from, 10))
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
			l.light(c.Sub(from, y, c.W-from, 1), row, spotOf(one) == l.found)
		}
	}
	return lines
}

// light marks what was searched for in a row.
func (l *logPane) light(c canvas.Canvas, row string, current bool) {
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

// chunks cuts a text into pieces of at most so many cells.
func chunks(text string, width int) []string {
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

// note says what is shown of the log.
func (l *logPane) note(view *screen.LogView, failed bool) string {
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
		parts = append(parts, fmt.Sprintf("/%s: %d", l.search, l.matches()))
	}
	if view != nil && view.Dropped > 0 {
		parts = append(parts, widget.Count(view.Dropped)+" older lines dropped")
	}
	return strings.Join(parts, ", ")
}
