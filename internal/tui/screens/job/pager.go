package job

import (
	"strings"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// pager shows lines of text, which can be scrolled and searched.
type pager struct {
	plain
	text   []string
	top    int
	height int
	search string
	at     int // last line found
	drawn  canvas.Canvas
}

// Move scrolls by n lines.
func (p *pager) Move(n int) { p.top = max(min(p.top+n, len(p.text)-p.height), 0) }

// Page scrolls by n screens.
func (p *pager) Page(n int) { p.Move(n * max(p.height-1, 1)) }

// Home goes to the first line.
func (p *pager) Home() { p.top = 0 }

// End goes to the last line.
func (p *pager) End() { p.Move(len(p.text)) }

// Mouse scrolls with the wheel.
func (p *pager) Mouse(_ *screenapi.Context, m screenapi.Mouse) (taken, open bool) {
	if _, _, inside := p.drawn.ContainsCell(m.X, m.Y); !inside {
		return false, false
	}
	switch m.Kind {
	case screenapi.WheelUp:
		p.Move(-3)
	case screenapi.WheelDown:
		p.Move(3)
	}
	return true, false
}

func (p *pager) matchesSearch(line string) bool {
	return p.search != "" && strings.Contains(strings.ToLower(line), strings.ToLower(p.search))
}

func (p *pager) countMatches() int {
	n := 0
	for _, line := range p.text {
		if p.matchesSearch(line) {
			n++
		}
	}
	return n
}

// moveToMatch moves to the next line that contains the search text. It reports whether there is one.
func (p *pager) moveToMatch(down bool) bool {
	step := 1
	if !down {
		step = -1
	}
	for i := p.at + step; i >= 0 && i < len(p.text); i += step {
		if p.matchesSearch(p.text[i]) {
			p.at = i
			p.top = 0
			p.Move(i - p.height/2)
			return true
		}
	}
	return false
}

// draw draws the text, starting at the first visible line.
func (p *pager) draw(c canvas.Canvas, text []string, empty string) {
	p.text, p.height, p.drawn = text, c.H, c
	p.Move(0)
	if len(text) == 0 {
		c.Fit(0, 0, c.W, empty, theme.Dim)
	}
	for y := range c.H {
		if p.top+y >= len(text) {
			return
		}
		line := text[p.top+y]
		style := theme.Plain
		if p.matchesSearch(line) {
			style |= canvas.Underline
		}
		c.Fit(0, y, c.W, plainText(line), style)
	}
}
