package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/deploy/monitoring"
)

// Sizes in pixels.
const (
	columnWidth  = 41 // of Grafana's grid of 24 columns
	rowHeight    = 37
	margin       = 8
	headerHeight = 62
	letterWidth  = 5.9 // on average, of a text of 11 pixels
	textHeight   = 15
	axisWidth    = 76
	gridColumns  = 24
)

// colors are the colors of lines. They are dark enough for a white background.
var colors = []string{"#1f77b4", "#d95f02", "#2a9134", "#c2185b", "#7b5ea7", "#8c564b", "#0097a7", "#a67c00", "#555555", "#e377c2", "#17377a", "#8a9a00"}

// draw returns an image of the dashboard with the recorded data.
func (d *dashboard) draw(r recording) string {
	width, bottom := gridColumns*columnWidth+2*margin, 0
	for _, p := range d.Panels {
		bottom = max(bottom, p.GridPos.Y+p.GridPos.H)
	}
	height := headerHeight + bottom*rowHeight + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="Arial,Helvetica,'Liberation Sans',sans-serif" font-size="11" fill="#24292f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(d.Title))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#f4f5f5"/>`+"\n")
	fmt.Fprintf(&b, `<text x="%d" y="28" font-size="18" font-weight="bold">%s</text>`+"\n", 2*margin, html.EscapeString(d.Title))
	fmt.Fprintf(&b, `<text x="%d" y="49" font-size="13">%s</text>`+"\n", 2*margin, html.EscapeString(d.Description))
	for _, p := range d.Panels {
		x, y := margin+p.GridPos.X*columnWidth, headerHeight+p.GridPos.Y*rowHeight
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", x, y)
		if p.Type == headingType {
			fmt.Fprintf(&b, `<text x="%d" y="26" font-size="15" font-weight="bold">%s</text>`+"\n", margin, html.EscapeString(p.Title))
		} else {
			p.draw(&b, r)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// area is the part of a panel in which lines are drawn.
type area struct{ left, top, right, bottom float64 }

// draw writes the panel: title, help, chart and legend.
func (p *panel) draw(b *strings.Builder, r recording) {
	width, height := float64(p.GridPos.W*columnWidth), float64(p.GridPos.H*rowHeight)
	fmt.Fprintf(b, `<rect x="3" y="3" width="%g" height="%g" rx="3" fill="white" stroke="#d8dadd"/>`+"\n", width-6, height-6)
	fmt.Fprintf(b, `<text x="14" y="22" font-size="13" font-weight="bold">%s</text>`+"\n", html.EscapeString(p.Title))
	y := 39.0
	for _, words := range wrap(strings.Fields(p.Description), width-28, textWidth) {
		fmt.Fprintf(b, `<text x="14" y="%g" fill="#666">%s</text>`+"\n", y, html.EscapeString(strings.Join(words, " ")))
		y += textHeight
	}
	lines := p.lines(r)
	if len(lines) == 0 {
		fmt.Fprintf(b, `<text x="%g" y="%g" font-size="13" text-anchor="middle" fill="#666">No data</text>`+"\n", width/2, height/2)
		return
	}
	legendTop := drawLegend(b, lines, width, height)
	in := area{left: axisWidth, top: y - 2, right: width - 28, bottom: legendTop - 26}
	drawLines(b, in, newAxis(monitoring.Unit(p.FieldConfig.Defaults.Unit), lines), lines, time.Duration(r.StepSeconds)*time.Second)
}

// drawLegend writes the legend at the bottom of a panel, and returns where it begins.
func drawLegend(b *strings.Builder, lines []line, width, height float64) float64 {
	const markWidth, gap = 18, 14
	entryWidth := func(l line) float64 { return markWidth + textWidth(l.legend) + gap }
	rows := wrap(lines, width-28, entryWidth)
	top := height - 12 - float64(len(rows))*textHeight
	i := 0
	for row, entries := range rows {
		x, y := 14.0, top+float64(row+1)*textHeight-3
		for _, l := range entries {
			fmt.Fprintf(b, `<path d="M%.0f %gh13" %s/>`+"\n", x, y-4, stroke(i, 3))
			fmt.Fprintf(b, `<text x="%.0f" y="%g">%s</text>`+"\n", x+markWidth, y, html.EscapeString(l.legend))
			x += entryWidth(l)
			i++
		}
	}
	return top
}

// drawLines writes the axes and the lines of a chart.
func drawLines(b *strings.Builder, in area, a axis, lines []line, step time.Duration) {
	y := func(v float64) float64 { return in.bottom - (v-a.low)/(a.high-a.low)*(in.bottom-in.top) }
	for _, t := range a.ticks {
		fmt.Fprintf(b, `<path d="M%g %.1fH%g" stroke="#e4e5e7"/>`+"\n", in.left, y(t.value), in.right)
		fmt.Fprintf(b, `<text x="%g" y="%.1f" text-anchor="end" fill="#666">%s</text>`+"\n", in.left-6, y(t.value)+4, html.EscapeString(t.label))
	}
	intervals := len(lines[0].values) - 1
	for at := time.Duration(0); at <= time.Duration(intervals)*step; at += time.Minute {
		x := in.left + float64(at/step)/float64(intervals)*(in.right-in.left)
		fmt.Fprintf(b, `<path d="M%.1f %.1fV%.1f" stroke="#e4e5e7"/>`+"\n", x, in.top, in.bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="#666">%d min</text>`+"\n", x, in.bottom+14, int(at.Minutes()))
	}
	for i, l := range lines {
		points := make([]point, len(l.values))
		for k, v := range l.values {
			points[k] = point{in.left + float64(k)/float64(intervals)*(in.right-in.left), y(v)}
		}
		attributes := stroke(i, 1.5)
		if isCovered(l, lines[:i]) {
			attributes += ` stroke-dasharray="6 6"` // the line below remains visible
		}
		fmt.Fprintf(b, `<path d="%s" %s fill="none"/>`+"\n", pathOf(points), attributes)
	}
}

// isCovered reports whether at least half of a line, apart from zeros, is on top of one of the earlier lines.
func isCovered(l line, earlier []line) bool {
	return slices.ContainsFunc(earlier, func(e line) bool {
		nonZero, equal := 0, 0
		for k, v := range l.values {
			if !isNumber(v) || v == 0 {
				continue
			}
			nonZero++
			if v == e.values[k] {
				equal++
			}
		}
		return nonZero > 0 && 2*equal >= nonZero
	})
}

// stroke returns the attributes of the line with the given index.
func stroke(i int, width float64) string {
	return fmt.Sprintf(`stroke="%s" stroke-width="%g" stroke-linejoin="round"`, colors[i%len(colors)], width)
}

// point is a position in a panel. Its Y is not a number if the value is missing.
type point struct{ X, Y float64 }

// pathOf returns the path through the points, with gaps where values are missing. It omits points in the middle of
// straight lines, and draws a point between two gaps as a short line.
func pathOf(points []point) string {
	var b strings.Builder
	isFirst := true
	for i, p := range points {
		if !isNumber(p.Y) {
			isFirst = true
			continue
		}
		isLast := i == len(points)-1 || !isNumber(points[i+1].Y)
		switch {
		case isFirst && isLast:
			fmt.Fprintf(&b, "M%.1f %.1fh2", p.X-1, p.Y)
		case isFirst:
			fmt.Fprintf(&b, "M%.1f %.1f", p.X, p.Y)
		case isLast || !isStraight(points[i-1], p, points[i+1]):
			fmt.Fprintf(&b, "L%.1f %.1f", p.X, p.Y)
		}
		isFirst = false
	}
	return b.String()
}

// isStraight reports whether b is on the line from a to c, for points at equal distances.
func isStraight(a, b, c point) bool { return math.Abs(a.Y-2*b.Y+c.Y) < 0.05 }

// textWidth returns the estimated width of a text of 11 pixels.
func textWidth(text string) float64 { return float64(len([]rune(text))) * letterWidth }

// wrap breaks a list into rows with a maximum width.
func wrap[T any](list []T, width float64, widthOf func(T) float64) [][]T {
	var rows [][]T
	used := 0.0
	for _, item := range list {
		w := widthOf(item) + letterWidth
		if len(rows) == 0 || used+w > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], item)
		used += w
	}
	return rows
}
