package render

import (
	"fmt"
	"io"
	"strings"
)

// WriteWrapped writes text wrapped to width cells. The first line is prefixed with first, and all other lines with
// rest. A width of 0 disables wrapping. Control characters are written as visible escapes.
func WriteWrapped(out io.Writer, first, rest, text string, width int) {
	Style{}.WriteWrapped(out, first, rest, text, width)
}

// WriteWrapped is like the function WriteWrapped, but for text that may contain the style's colours.
func (s Style) WriteWrapped(out io.Writer, first, rest, text string, width int) {
	for i, line := range WrapAtBlanks(cleanLine(text, s.Enabled), width-Width(rest)) {
		if i == 0 {
			fmt.Fprintln(out, first+line)
			continue
		}
		fmt.Fprintln(out, rest+line)
	}
}

// Line returns text in a form that can be part of one line. The text may contain the style's colours; other control
// characters become visible escapes.
func (s Style) Line(text string) string { return cleanLine(text, s.Enabled) }

// WrapAtBlanks breaks text at blanks into lines of at most width cells. It does not split words.
func WrapAtBlanks(text string, width int) []string {
	const least = 20
	if width < least {
		if width <= 0 {
			return []string{text}
		}
		width = least
	}
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}
