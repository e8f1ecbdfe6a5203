package guide

import (
	"cmp"
	"fmt"
	"html"
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// Sizes in pixels.
const (
	cellW, cellH = 8.0, 17.0
	margin       = 12.0
	baseline     = 13.0
)

// Colours of a terminal with a dark background.
const (
	background = "#16181d"
	foreground = "#d7d7d7"
)

// RenderSVG draws a frame as an image of a dark terminal. Lines and blocks are drawn as shapes, so that they join
// regardless of the font. Text is stretched to fit its cells.
func RenderSVG(frame canvas.Canvas, t *theme.Theme, title string) string {
	w, h := float64(frame.W)*cellW+2*margin, float64(frame.H)*cellH+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="13">`+"\n", w, h, w, h)
	fmt.Fprintf(&out, "<title>%s</title>\n", html.EscapeString(title))
	fmt.Fprintf(&out, `<rect width="%g" height="%g" rx="8" fill="%s"/>`+"\n", w, h, background)
	for y := range frame.H {
		for x := 0; x < frame.W; {
			x += drawCellRun(&out, frame, t, x, y)
		}
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// drawCellRun draws consecutive cells of the same style and kind, starting at x, and returns their number.
func drawCellRun(out *strings.Builder, frame canvas.Canvas, t *theme.Theme, x, y int) int {
	first := frame.At(x, y)
	shape := isShape(first.Rune)
	n := 1
	for ; x+n < frame.W; n++ {
		next := frame.At(x+n, y)
		isOtherShape := shape && next.Rune != first.Rune
		if next.Style != first.Style || isShape(next.Rune) != shape || isOtherShape {
			break
		}
	}
	look := t.LookOfStyle(first.Style)
	ink, paper := hexColor(look.GetForeground(), foreground), ""
	if look.GetReverse() {
		ink, paper = background, ink
	}
	left, top := margin+float64(x)*cellW, margin+float64(y)*cellH
	if paper != "" {
		fmt.Fprintf(out, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"/>`+"\n", left, top, float64(n)*cellW, cellH, paper)
	}
	if shape {
		drawShapeRun(out, first.Rune, left, top, n, ink)
		return n
	}
	drawWordsOfRun(out, frame, x, y, n, look, ink)
	return n
}

func hexColor(c color.Color, otherwise string) string {
	if _, none := c.(lipgloss.NoColor); c == nil || none {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// drawWordsOfRun writes the words in a run of cells, each of them at its position.
func drawWordsOfRun(out *strings.Builder, frame canvas.Canvas, x, y, n int, look lipgloss.Style, ink string) {
	more := ""
	if look.GetBold() {
		more += ` font-weight="bold"`
	}
	if look.GetFaint() {
		more += ` opacity="0.6"`
	}
	if look.GetUnderline() {
		more += ` text-decoration="underline"`
	}
	for at := x; at < x+n; {
		if isBlankRune(frame.At(at, y).Rune) {
			at++
			continue
		}
		from, word, gap := at, []rune{}, 0
		for ; at < x+n; at++ {
			r := frame.At(at, y).Rune
			if gap++; !isBlankRune(r) {
				gap = 0
			}
			if gap > 1 {
				break
			}
			if r == canvas.Rest {
				continue
			}
			r = cmp.Or(r, ' ')
			word = append(word, r)
		}
		text := strings.TrimRight(string(word), " ")
		fmt.Fprintf(out, `<text x="%g" y="%g" textLength="%g" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
			margin+float64(from)*cellW, margin+float64(y)*cellH+baseline, float64(canvas.Width(text))*cellW, ink, more, html.EscapeString(text))
	}
}

func isBlankRune(r rune) bool { return r == 0 || r == ' ' }

// isShape reports whether a rune is a line or block, which is drawn as a shape.
func isShape(r rune) bool { return (r >= 0x2500 && r < 0x25a0) || r == '▸' }

// shades maps shaded blocks to their density.
var shades = map[rune]float64{'░': 0.25, '▒': 0.5, '▓': 0.75, '█': 1}

// drawShapeRun draws n cells of the same shape.
func drawShapeRun(out *strings.Builder, r rune, left, top float64, n int, ink string) {
	width := float64(n) * cellW
	rect := func(x, y, w, h, opacity float64) {
		fmt.Fprintf(out, `<rect x="%g" y="%g" width="%g" height="%g" fill="%s"`, x, y, w, h, ink)
		if opacity < 1 {
			fmt.Fprintf(out, ` opacity="%g"`, opacity)
		}
		out.WriteString("/>\n")
	}
	if opacity, ok := shades[r]; ok {
		rect(left, top+1, width, cellH-2, opacity)
		return
	}
	if r >= '▁' && r <= '▇' {
		height := (cellH - 2) * float64(r-'▁'+1) / 8
		rect(left, top+cellH-1-height, width, height, 1)
		return
	}
	for i := range n {
		x := left + float64(i)*cellW
		mid, centre := x+cellW/2, top+cellH/2
		switch r {
		case '─':
			if i == 0 {
				rect(left, centre-0.5, width, 1, 1)
			}
		case '▸':
			fmt.Fprintf(out, `<path d="M%g %gl6 4l-6 4z" fill="%s"/>`+"\n", x+1, centre-4, ink)
		default:
			drawCorner(rect, boxArms[r], x, mid, top, centre)
		}
	}
}

// arms describes the half-lines in a cell: left -1, right 1, both 2; up -1, down 1, both 2.
type arms struct{ horizontal, vertical float64 }

var boxArms = map[rune]arms{
	'│': {0, 2}, '┌': {1, 1}, '┐': {-1, 1}, '└': {1, -1}, '┘': {-1, -1}, '├': {1, 2}, '┤': {-1, 2}, '┬': {2, 1}, '┴': {2, -1}, '┼': {2, 2},
}

func drawCorner(rect func(x, y, w, h, opacity float64), a arms, x, mid, top, centre float64) {
	switch a.horizontal {
	case -1:
		rect(x, centre-0.5, cellW/2+0.5, 1, 1)
	case 1:
		rect(mid-0.5, centre-0.5, cellW/2+0.5, 1, 1)
	case 2:
		rect(x, centre-0.5, cellW, 1, 1)
	}
	switch a.vertical {
	case -1:
		rect(mid-0.5, top, 1, cellH/2+0.5, 1)
	case 1:
		rect(mid-0.5, centre-0.5, 1, cellH/2+0.5, 1)
	case 2:
		rect(mid-0.5, top, 1, cellH, 1)
	}
}
