package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/vc-batch/vc/test/bench/figures"
)

// Sizes of one small chart, in pixels.
const (
	across                   = 3
	width, height            = 300, 170
	left, right, top, bottom = 46, 14, 40, 24
)

// chart draws one small chart per line: figures by number of nodes, starting at 0, with a dashed line for the floor and
// a dotted line for the aim. It omits lines with figures for only one number of nodes.
func chart(all []figures.Figure) string {
	var charts []string
	for _, name := range names(all) {
		if list := of(all, name); len(list) > 1 {
			charts = append(charts, small(list))
		}
	}
	rows := (len(charts) + across - 1) / across
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="10">`+"\n", across*width, rows*height)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n%s</g>\n", i%across*width, i/across*height, c)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func small(list []figures.Figure) string {
	line := figures.LineOf(list[0].Name)
	mostX, mostY := 0.0, 0.0
	for _, f := range list {
		mostX, mostY = max(mostX, float64(f.Nodes)), max(mostY, f.Value)
	}
	// A floor far above the figures would compress them, so it is only named.
	for _, limit := range []float64{line.Floor, line.Aim} {
		if limit < 3*mostY {
			mostY = max(mostY, limit)
		}
	}
	mostY *= 1.1
	x := func(v float64) float64 { return left + v/mostX*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - v/mostY*(height-top-bottom) }

	var b strings.Builder
	for i, words := range wrapped(list[0].Name, 46) {
		fmt.Fprintf(&b, `<text x="8" y="%d" font-weight="bold">%s</text>`+"\n", 13+12*i, html.EscapeString(words))
	}
	fmt.Fprintf(&b, `<path d="M%d %d V%d H%d" fill="none" stroke="gray"/>`+"\n", left, top, height-bottom, width-right)
	limit := func(v float64, dashes string) {
		if v == 0 || v > mostY {
			return
		}
		fmt.Fprintf(&b, `<path d="M%d %.1f H%d" stroke="crimson" stroke-dasharray="%s"/>`+"\n", left, y(v), width-right, dashes)
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end" fill="crimson">%s</text>`+"\n", left-4, y(v)+3, grouped(v))
	}
	limit(line.Floor, "5 3")
	limit(line.Aim, "1 3")
	var points []string
	for _, f := range list {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(float64(f.Nodes)), y(f.Value)))
	}
	fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="steelblue" stroke-width="2"/>`+"\n", strings.Join(points, " "))
	for _, f := range list {
		at := x(float64(f.Nodes))
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="steelblue"/>`+"\n", at, y(f.Value))
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="middle" fill="steelblue">%s %s</text>`+"\n", at, y(f.Value)-6, grouped(f.Value), html.EscapeString(f.Unit))
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="gray">%s</text>`+"\n", at, height-bottom+13, grouped(float64(f.Nodes)))
	}
	return b.String()
}

// wrapped breaks a text into lines with a maximum number of letters.
func wrapped(text string, letters int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= letters {
			lines[n-1] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}
