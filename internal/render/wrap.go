package render

import (
	"fmt"
	"io"
	"strings"
)

// WriteWrapped writes text after first, and what does not fit into width cells on lines of its own after rest; a width of 0
// wraps nothing. What a terminal would obey in text is visible.
func WriteWrapped(out io.Writer, first, rest, text string, width int) {
	Style{}.WriteWrapped(out, first, rest, text, width)
}

// WriteWrapped is the function of this name for a text that may hold the style's colours.
func (s Style) WriteWrapped(out io.Writer, first, rest, text string, width int) {
	for i, line := range Wrap(cleanLine(text, s.Enabled), width-Width(rest)) {
		if i == 0 {
			fmt.Fprintln(out, first+line)
			continue
		}
		fmt.Fprintln(out, rest+line)
	}
}

// Line returns a text as part of one line, for a text that may hold the style's colours; what a terminal would obey is visible.
func (s Style) Line(text string) string { return cleanLine(text, s.Enabled) }

// Wrap breaks text at blanks into lines of at most width cells; words are kept whole.
func Wrap(text string, width int) []string {
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
