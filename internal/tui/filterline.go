package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// filterLine is the line in which the user types a filter. The filter is applied on every key press.
type filterLine struct {
	line *line
	bad  string
}

// newFilterLine starts to edit the filter. A blank after an existing filter separates it from what the user adds.
func (a *App) newFilterLine() *filterLine {
	text := a.filters[a.VisibleScreen()]
	if text != "" && !strings.HasSuffix(text, " ") {
		text += " "
	}
	return &filterLine{line: newLine(text)}
}

func (f *filterLine) key(a *App, key tea.KeyPressMsg) {
	switch key.String() {
	case "enter":
		if f.bad == "" { // otherwise, the user can correct the filter
			a.overlay = nil
		}
		return
	case "esc":
		a.overlay = nil
		_ = a.setFilter(a.opened[a.VisibleScreen()])
		return
	}
	f.line.key(key)
	f.bad = ""
	if err := a.setFilter(f.line.text()); err != nil {
		f.bad = err.Error()
	}
}

// draw does nothing, because the line is drawn as part of the frame.
func (f *filterLine) draw(*App, canvas.Canvas) {}

func (a *App) showsFilter() bool {
	_, typing := a.overlay.(*filterLine)
	return typing || a.filters[a.VisibleScreen()] != ""
}

// drawFilterRow draws the filter and the number of matches.
func (a *App) drawFilterRow(c canvas.Canvas) {
	right, end := "", c.W-1
	typing, isTyping := a.overlay.(*filterLine)
	if top, ok := a.VisibleScreen().(screenapi.Filterer); ok {
		shown, all := top.Matches(&a.ctx)
		right = fmt.Sprintf("%s of %s", widget.FormatCount(shown), widget.FormatCount(all))
		if effect := a.escapeEffect(); c.W >= 80 && effect != "" {
			right += " match   (" + a.ctx.KeyFor("back", "esc") + " " + effect + ")"
		} else if c.W >= 80 {
			right += " match"
		}
	}
	style := theme.Dim
	if isTyping && typing.bad != "" {
		right, style = typing.bad, theme.Error
	}
	right = c.Shorten(right, c.W*2/3)
	end = c.PutRight(end, 0, right, style) - 1
	x := c.Put(1, 0, "/ ", theme.Key)
	if isTyping {
		typing.line.draw(c, x, 0, end-x)
		if keys, ok := a.VisibleScreen().(screenapi.FilterKeyLister); ok && typing.line.text() == "" {
			c.Fit(x+2, 0, end-x-2, "a word, or "+strings.Join(keys.FilterKeys(), " "), theme.Dim)
		}
		return
	}
	c.Fit(x, 0, end-x, a.filters[a.VisibleScreen()], theme.Plain)
}

// escapeEffect describes what esc does to the filter of the visible screen; it is empty for the filter of a tab, which
// stays.
func (a *App) escapeEffect() string {
	top := a.VisibleScreen()
	if opened := a.opened[top]; opened != "" && a.filters[top] == opened {
		if a.isRoot(top) {
			return ""
		}
		return "goes back"
	}
	return "clears"
}
