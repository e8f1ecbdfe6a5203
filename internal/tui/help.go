package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// help shows the keys of the top screen. It uses the same table that dispatches them.
type help struct{ top, most int }

func (h *help) key(a *App, key tea.KeyPressMsg) {
	switch key.String() {
	case "esc", "q", "?", "enter":
		a.overlay = nil
	case "up", "k":
		h.top--
	case "down", "j":
		h.top++
	case "pgup", "ctrl+b":
		h.top -= 10
	case "pgdown", "ctrl+f", "space":
		h.top += 10
	}
	h.top = max(min(h.top, h.most), 0)
}

func (h *help) draw(a *App, c canvas.Canvas) {
	name := a.VisibleScreen().Name()
	var lines []helpLine
	for _, part := range []struct {
		title string
		keys  []screenapi.Binding
	}{{a.VisibleScreen().Crumb(&a.ctx), a.specs[name].Keys}, {"On all screens", a.commonKeys()}} {
		if len(part.keys) == 0 {
			continue
		}
		lines = append(lines, helpLine{title: part.title})
		for i := range part.keys {
			lines = append(lines, a.describeBinding(&part.keys[i]))
		}
	}
	part := c.Sub(2, 2, c.W-4, c.H-3)
	part.Clear(0, 0, part.W, part.H)
	in := widget.DrawTitledBox(part, a.ctx.Theme, "Keys", "esc closes")
	h.most = max(len(lines)-in.H, 0)
	h.top = min(h.top, h.most)
	for y := range min(in.H, len(lines)) {
		lines[h.top+y].draw(in, y)
	}
}

type helpLine struct {
	title, keys, text string
	refused           bool
}

func (a *App) describeBinding(binding *screenapi.Binding) helpLine {
	keys := binding.KeysWithAliases()
	for i := range keys {
		keys[i] = KeyName(keys[i])
	}
	return helpLine{keys: strings.Join(slices.Compact(keys), " "), text: binding.Help, refused: binding.Writes && a.ctx.ReadOnly}
}

func (l helpLine) draw(c canvas.Canvas, y int) {
	if l.title != "" {
		c.Fit(0, y, c.W, l.title, theme.Head)
		return
	}
	c.Fit(1, y, 13, l.keys, theme.Key)
	style := theme.Plain
	if l.refused {
		style = theme.Dim
	}
	c.Fit(15, y, c.W-15, l.text, style)
}
