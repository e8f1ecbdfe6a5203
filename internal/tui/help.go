package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// help shows the keys of the top screen. It uses the same table that dispatches them.
type help struct {
	top, most int   // the first visible line, and its maximum
	page      int   // number of lines when last drawn
	search    *line // the text that keys must match; nil if the user has not searched
	typing    bool  // keys go to the search line
}

func (h *help) key(a *App, key tea.KeyPressMsg) {
	if h.typing {
		h.typeSearch(key)
		return
	}
	switch key.String() {
	case "esc":
		if h.search == nil {
			a.overlay = nil
		}
		h.search = nil
	case "q", "?", "enter":
		a.overlay = nil
	case "/":
		h.search, h.typing, h.top = newLine(""), true, 0
	case "up", "k":
		h.top--
	case "down", "j":
		h.top++
	case "pgup", "ctrl+b", "ctrl+u":
		h.top -= h.page
	case "pgdown", "ctrl+f", "ctrl+d", "space":
		h.top += h.page
	case "home", "g":
		h.top = 0
	case "end", "G":
		h.top = h.most
	}
	h.top = max(min(h.top, h.most), 0)
}

// typeSearch handles a key while the user types a search.
func (h *help) typeSearch(key tea.KeyPressMsg) {
	switch key.String() {
	case "esc":
		h.search, h.typing = nil, false
	case "enter":
		h.typing = false
	default:
		h.search.key(key)
		h.top = 0
	}
}

// wideHelp is the width from which the keys stand in two columns.
const wideHelp = 150

func (h *help) draw(a *App, c canvas.Canvas) {
	part := c.Sub(2, 2, c.W-4, c.H-3)
	if a.ctx.Compact {
		part = c.Sub(0, 2, c.W, c.H-3)
	}
	part.Clear(0, 0, part.W, part.H)
	in := widget.DrawTitledBox(part, a.ctx.Theme, "Keys", "/ searches, esc closes")
	in.SetCursor(0, 0)
	lines := h.matchingLines(a)
	list, foot := in.Cut(in.H - 1)
	columns := 1
	if c.W >= wideHelp {
		columns = 2
	}
	h.page = max(list.H, 1)
	h.most = max(len(lines)-columns*h.page, 0)
	h.top = min(h.top, h.most)
	width := list.W / columns
	for i, one := range lines[h.top:min(h.top+columns*h.page, len(lines))] {
		one.draw(list.Sub(i/h.page*width, i%h.page, width-1, 1))
	}
	if len(lines) == 0 {
		list.Fit(1, 0, list.W-1, "no key matches", theme.Dim)
	}
	h.drawFoot(a, foot, len(lines)-h.top-columns*h.page)
}

// drawFoot draws the search, and the number of lines below.
func (h *help) drawFoot(a *App, c canvas.Canvas, below int) {
	if h.search != nil {
		c.Put(0, 0, "/", theme.Key)
		h.search.draw(c, 1, 0, c.W/2)
	}
	if below > 0 {
		c.PutRight(c.W, 0, fmt.Sprintf("%c %d more below", a.ctx.Theme.Glyphs.More, below), theme.Dim)
	}
}

// matchingLines returns the lines that match the search: the keys of the screen, then the keys of all screens.
func (h *help) matchingLines(a *App) []helpLine {
	wanted := ""
	if h.search != nil {
		wanted = strings.ToLower(h.search.text())
	}
	var lines []helpLine
	for _, part := range []struct {
		title string
		keys  []screenapi.Binding
	}{{a.VisibleScreen().Crumb(&a.ctx), a.specs[a.VisibleScreen().Name()].Keys}, {"On all screens", a.commonKeys()}} {
		var matching []helpLine
		for _, binding := range actionsFirst(part.keys) {
			if one := a.describeBinding(&binding); strings.Contains(strings.ToLower(one.keys+" "+one.name+" "+one.text), wanted) {
				matching = append(matching, one)
			}
		}
		if len(matching) > 0 {
			lines = append(append(lines, helpLine{title: part.title}), matching...)
		}
	}
	return lines
}

// actionsFirst returns the keys with the cursor movements last.
func actionsFirst(keys []screenapi.Binding) []screenapi.Binding {
	sorted := slices.Clone(keys)
	slices.SortStableFunc(sorted, func(a, b screenapi.Binding) int {
		switch {
		case moves[a.Name] == moves[b.Name]:
			return 0
		case moves[a.Name]:
			return 1
		}
		return -1
	})
	return sorted
}

// helpLine is a title, or a key with its name and its effect.
type helpLine struct {
	title, keys, name, text string
	refused                 bool // the key has no effect now
}

func (a *App) describeBinding(binding *screenapi.Binding) helpLine {
	keys := binding.KeysWithAliases()
	for i := range keys {
		keys[i] = KeyName(keys[i])
	}
	return helpLine{keys: strings.Join(slices.Compact(keys), " "), name: binding.Name, text: binding.Help, refused: a.refusalReason(binding) != ""}
}

func (l helpLine) draw(c canvas.Canvas) {
	if l.title != "" {
		c.Fit(0, 0, c.W, l.title, theme.Head)
		return
	}
	style := theme.Plain
	if l.refused {
		style = theme.Dim
	}
	c.Fit(1, 0, 11, l.keys, theme.Key)
	c.Fit(13, 0, 14, l.name, style|canvas.Bold)
	c.Fit(28, 0, c.W-28, l.text, style)
}
