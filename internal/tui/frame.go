package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// tabPlace is the position of a tab, together with the key that opens it.
type tabPlace struct {
	from, to, y int
	key         string
}

// staleFor is how long a broken watch is only shown as stale, because most watches recover within this time.
const staleFor = 5 * time.Second

// isTooSmall reports whether the terminal is too small for a frame. It returns false if the size is not known yet.
func (a *App) isTooSmall() bool {
	isKnown := a.width > 0 || a.ctx.H > 0
	return isKnown && (a.width < MinWidth || a.ctx.H < MinHeight)
}

// Draw draws the whole frame at the current size.
func (a *App) Draw() canvas.Canvas { return a.drawOn(canvas.New(a.width, a.ctx.H, a.ascii)) }

// drawOn draws the frame on an empty canvas of the current size.
func (a *App) drawOn(c canvas.Canvas) canvas.Canvas {
	a.places = a.places[:0]
	if c.W < MinWidth || c.H < MinHeight {
		c.Fit(0, 0, c.W, fmt.Sprintf("needs %dx%d, has %dx%d", MinWidth, MinHeight, c.W, c.H), theme.Warn)
		return c
	}
	a.drawTitleLine(c.Sub(0, 0, c.W, 1))
	from := 2
	a.drawTabRow(c)
	hasFilterRow := a.showsFilter() && c.H >= 30
	if hasFilterRow {
		from++
	}
	a.VisibleScreen().Draw(&a.ctx, c.Sub(0, from, c.W, c.H-from-1))
	if _, _, isSet := c.Cursor(); !isSet {
		c.SetCursor(0, from)
	}
	switch { // after the screen, so that the cursor is in the filter while the user types
	case hasFilterRow:
		a.drawFilterRow(c.Sub(0, 2, c.W, 1))
	case a.showsFilter():
		from := c.W * 2 / 5
		if a.ctx.Compact || c.W < 80 {
			from = 0 // there is not enough space for the tabs and the filter
		}
		row := c.Sub(from, 1, c.W-from, 1)
		row.Clear(0, 0, row.W, 1)
		a.drawFilterRow(row)
	}
	a.drawFooter(c.Sub(0, c.H-1, c.W, 1))
	if a.overlay != nil {
		a.overlay.draw(a, c)
	}
	return c
}

// drawTitleLine draws the first line, with the path on the left and the state of the connection on the right.
func (a *App) drawTitleLine(c canvas.Canvas) {
	right := a.titleStatus()
	end := c.W - 1
	for i := len(right) - 1; i >= 0; i-- {
		if w := canvas.Width(right[i].text); end-w > c.W/3 {
			end = c.PutRight(end, 0, right[i].text, right[i].style) - 2
		}
	}
	x := 1
	left := c.Sub(0, 0, max(end, 0), 1)
	parts := a.titlePathParts()
	for wide := range 4 {
		parts = a.titlePathParts()[wide:]
		if canvas.Width(strings.Join(parts, "")) < left.W-1 {
			break
		}
		if wide == len(a.titlePathParts())-1 {
			break
		}
	}
	parts[0] = strings.TrimLeft(parts[0], " ")
	for i, part := range parts {
		style := theme.Plain
		if i == len(parts)-1 {
			style = theme.Title
		}
		x = left.Put(x, 0, part, style)
	}
}

type piece struct {
	text  string
	style canvas.Style
}

// titlePathParts returns the program, the cluster and namespace, and the open screens. On a narrow terminal, the first
// screens are omitted.
func (a *App) titlePathParts() []string {
	namespace := a.ctx.Namespace
	switch only := a.ctx.OnlyNamespaces("jobs"); {
	case namespace != "":
	case only != "":
		namespace = only
	case a.ctx.W < 100:
		namespace = "all"
	default:
		namespace = "all namespaces"
	}
	where := "  " + cmp.Or(a.ctx.Snap.Cluster, "no cluster") + " / " + namespace
	if a.ctx.W < 100 {
		where = " " + cmp.Or(a.ctx.Snap.Cluster, "no cluster") + "/" + namespace
	}
	if a.ctx.Mine {
		where += ", mine"
	}
	crumbs := ""
	if len(a.stack) > 1 || a.VisibleScreen().Name() != a.tabs[0].Name {
		for i, s := range a.stack {
			if i == 0 && s.Name() == a.tabs[0].Name {
				continue // the first tab is the default, so its name adds nothing
			}
			crumbs += " > " + s.Crumb(&a.ctx)
		}
	}
	parts := []string{a.ctx.Program + " top", where}
	if a.ctx.ReadOnly {
		parts = append(parts, " (read-only)")
	}
	return append(parts, crumbs)
}

// titleStatus returns the right part of the title: the screen's note, the state of the connection, and the clock. On a
// narrow terminal, the first of these are omitted.
func (a *App) titleStatus() []piece {
	link := a.describeLink()
	pieces := []piece{{link, theme.Good}, {a.ctx.Now.Format(time.TimeOnly), theme.Plain}}
	if a.ctx.Compact { // a screen reader would read the clock aloud
		pieces = pieces[:1]
		if a.ctx.Snap.Connection.Link == snapshot.LinkLive {
			pieces[0].text = "live"
		}
	}
	switch a.ctx.Snap.Connection.Link {
	case snapshot.LinkLoading:
		pieces[0].style = theme.Pending
	case snapshot.LinkDisconnected:
		pieces[0].style = theme.Error
	}
	if note := a.VisibleScreen().Note(&a.ctx); note != "" {
		pieces = append([]piece{{note, theme.Dim}}, pieces...)
	}
	return pieces
}

// describeLink describes how up to date the data is.
func (a *App) describeLink() string {
	snap := a.ctx.Snap
	since := widget.FormatDuration(a.ctx.Now.Sub(snap.Connection.Since))
	switch snap.Connection.Link {
	case snapshot.LinkLoading:
		var kinds []string
		for _, l := range snap.Loading {
			kinds = append(kinds, fmt.Sprintf("%s %d", l.Kind, l.Count))
		}
		if len(kinds) == 0 || a.ctx.W < 100 {
			return "loading"
		}
		return "loading " + strings.Join(kinds, ", ") + " …"
	case snapshot.LinkDisconnected:
		if a.ctx.Now.Sub(snap.Connection.Since) < staleFor {
			return "stale " + since
		}
		if a.ctx.W < 100 {
			return "disconnected " + since
		}
		return "disconnected " + since + ", retrying"
	}
	age := widget.FormatDuration(a.ctx.Now.Sub(snap.At))
	if a.ctx.W < 100 {
		return "live " + age
	}
	return "changed " + age + " ago, live"
}

// drawTabRow draws the tabs of the current screen or, if it has no tabs, the tabs of the dashboard.
func (a *App) drawTabRow(c canvas.Canvas) {
	if tabbed, ok := a.VisibleScreen().(screenapi.Tabbed); ok {
		x := 1
		for _, tab := range tabbed.Tabs(&a.ctx) {
			x = a.drawTabTitle(c, x, tab.Key, tabTitle(tab), tab.Open)
		}
		return
	}
	x := 1
	for _, spec := range a.tabs {
		title := spec.Tab
		if c.W < 100 {
			title = cmp.Or(spec.ShortTab, spec.Tab)
		}
		open := a.isTabOpen(spec)
		text := " " + spec.Number + " " + title
		if open {
			text = "[" + spec.Number + "]" + title
		}
		if c.W < 100 {
			text = strings.ReplaceAll(text, spec.Number+" ", spec.Number)
		}
		x = a.drawTabTitle(c, x, spec.Number, text, open)
	}
	a.drawProblem(c, x)
}

// isTabOpen reports whether the visible screen belongs to a tab: it is the tab's own screen, or another screen of the same
// kind above it, such as the jobs of a queue.
func (a *App) isTabOpen(tab screenapi.Spec) bool {
	visible := a.VisibleScreen()
	if a.isRoot(visible) {
		return a.roots[tab.Name] == visible
	}
	return visible.Name() == tab.Name
}

// drawProblem draws the reason for a lost connection if there is space for it in the row of tabs.
func (a *App) drawProblem(c canvas.Canvas, x int) {
	connection := a.ctx.Snap.Connection
	if connection.Link != snapshot.LinkDisconnected || connection.Problem == "" {
		return
	}
	if a.showsFilter() && c.H < 30 {
		return
	}
	if room := c.W - x - 3; room > 20 {
		c.FitRight(x+2, 1, room, connection.Problem, theme.Error)
	}
}

// tabTitle marks the key of a tab in its title if the title contains it, for example [s]ummary.
func tabTitle(tab screenapi.Tab) string {
	if at := strings.Index(tab.Title, tab.Key); at >= 0 {
		return tab.Title[:at] + "[" + tab.Key + "]" + tab.Title[at+len(tab.Key):]
	}
	return "[" + tab.Key + "]" + tab.Title
}

func (a *App) drawTabTitle(c canvas.Canvas, x int, key, text string, open bool) int {
	style := theme.Plain
	if open {
		style = theme.Tab
	}
	end := c.Put(x, 1, text, style)
	a.places = append(a.places, tabPlace{x, end, 1, key})
	if c.W < 100 {
		return end + 1
	}
	return end + 2
}

// drawFooter draws the keys of the screen, or the current notice.
func (a *App) drawFooter(c canvas.Canvas) {
	if a.notice.Text != "" {
		style := theme.Good
		if a.notice.Bad {
			style = theme.Error
		}
		c.Fit(1, 0, c.W-2, a.notice.Text, style)
		return
	}
	x := 1
	for _, binding := range a.footerKeys() {
		key := KeyName(binding.Key)
		text := key + " " + binding.Name
		if len(key) == 1 && !isLetterOrDigit(key[0]) {
			text = key + binding.Name
		}
		if x+canvas.Width(text) > c.W {
			break
		}
		end := c.Put(c.Put(x, 0, key, theme.Key), 0, text[len(key):], theme.Plain)
		x = end + 1
		if c.W >= 100 {
			x++
		}
	}
}

// isLetterOrDigit reports whether b is an ASCII letter or digit.
func isLetterOrDigit(b byte) bool {
	return b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)))
}

// footerKeys returns the keys to show in the footer, in order and without keys that have no effect now.
func (a *App) footerKeys() []screenapi.Binding {
	var keys []screenapi.Binding
	for _, b := range a.screenKeys(a.VisibleScreen().Name()) {
		if b.Footer != 0 && a.refusalReason(&b) == "" {
			keys = append(keys, b)
		}
	}
	slices.SortStableFunc(keys, func(x, y screenapi.Binding) int { return cmp.Compare(x.Footer, y.Footer) })
	return keys
}
