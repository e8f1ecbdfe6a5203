package widget

import (
	"context"
	"regexp"
	"strings"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Pager shows lines of text, which can be scrolled and searched.
type Pager struct {
	NoTable
	// Search is the text that is highlighted and searched for; "" means none.
	Search string

	text   []string
	top    int
	height int
	at     int // last line found
	drawn  canvas.Canvas
}

// NewPager returns a pager in which a search starts at the first line.
func NewPager() Pager { return Pager{at: -1} }

// Move scrolls by n lines.
func (p *Pager) Move(n int) { p.top = max(min(p.top+n, len(p.text)-p.height), 0) }

// Page scrolls by n screens.
func (p *Pager) Page(n int) { p.Move(n * max(p.height-1, 1)) }

// Home goes to the first line.
func (p *Pager) Home() { p.top = 0 }

// End goes to the last line.
func (p *Pager) End() { p.Move(len(p.text)) }

// Mouse scrolls with the wheel.
func (p *Pager) Mouse(_ *screenapi.Context, m screenapi.Mouse) (taken, open bool) {
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

func (p *Pager) matchesSearch(line string) bool {
	return p.Search != "" && strings.Contains(strings.ToLower(line), strings.ToLower(p.Search))
}

// CountMatches returns the number of lines that contain the search text.
func (p *Pager) CountMatches() int {
	n := 0
	for _, line := range p.text {
		if p.matchesSearch(line) {
			n++
		}
	}
	return n
}

// MoveToMatch moves to the next line that contains the search text. It reports whether there is one.
func (p *Pager) MoveToMatch(down bool) bool {
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

// LineCount returns the number of lines when the text was last drawn.
func (p *Pager) LineCount() int { return len(p.text) }

// Draw draws the text, starting at the first visible line. If there is no text, it draws empty.
func (p *Pager) Draw(c canvas.Canvas, text []string, empty string) {
	p.text, p.height, p.drawn = text, c.H, c
	c.SetCursor(0, 0)
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
		c.Fit(0, y, c.W, PlainText(line), style)
	}
}

// escapes matches escape sequences, which programs use to colour their output.
var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b]*(\x07|\x1b\\\\)?|\x1b.?")

// PlainText returns a line without escape sequences and with blanks instead of tabs.
func PlainText(text string) string {
	if strings.ContainsRune(text, '\x1b') {
		text = escapes.ReplaceAllString(text, "")
	}
	text = strings.TrimRight(text, "\r\n")
	text = text[strings.LastIndexByte(text, '\r')+1:] // a terminal would not show overwritten text, either
	return strings.ReplaceAll(text, "\t", "    ")
}

// MoveToMatchOrNotice moves to the next match of a search, or returns a notice if there is none.
func MoveToMatchOrNotice(p interface{ MoveToMatch(down bool) bool }, down bool) []screenapi.Effect {
	if p.MoveToMatch(down) {
		return nil
	}
	where := "above"
	if down {
		where = "below"
	}
	return []screenapi.Effect{screenapi.Notice{Text: "no more matches " + where}}
}

// FetchText returns the effect that reads a text about an object. The result is sent as Done with the given name.
func FetchText(name string, read func(ctx context.Context, kind, namespace, name string) (string, error), kind, namespace, object string) screenapi.Effect {
	return screenapi.Run{Name: name, Quiet: true, Fetch: func(ctx context.Context) (any, error) { return read(ctx, kind, namespace, object) }}
}
