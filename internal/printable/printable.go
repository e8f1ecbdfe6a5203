// Package printable makes untrusted text safe to display. Other users write names, annotations, conditions and events.
// Control characters in these texts would be interpreted by a terminal, and a line break could forge a row of a table.
//
//	In:   text of any origin
//	Out:  the same text, with every character that a terminal would obey in a visible form
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EscapeLine returns text in a form that can be part of one line. Line breaks and tabs become a single blank, and other
// control characters become visible escapes such as \x1b.
func EscapeLine(text string) string {
	if isPlain(text) {
		return text
	}
	if strings.ContainsFunc(text, isLineBreak) {
		text = strings.Join(strings.FieldsFunc(text, isLineBreak), " ")
	}
	return escapeUnsafe(text, func(rune) bool { return false })
}

// EscapeText returns a text that may have several lines. Line breaks and tabs remain, and other control characters
// become visible escapes.
func EscapeText(text string) string {
	if isPlain(text) {
		return text
	}
	return escapeUnsafe(text, func(r rune) bool { return r == '\n' || r == '\t' })
}

// isPlain reports whether text is printable ASCII, which most text is.
func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func isLineBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// escapeUnsafe replaces invalid UTF-8 and all characters that a terminal obeys, except for the runes to keep.
func escapeUnsafe(text string, keep func(rune) bool) string {
	var b strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case keep(r) || !isTerminalControl(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isTerminalControl reports whether a terminal acts on a character instead of drawing it: control characters, line and
// paragraph separators, and characters that change the text direction.
func isTerminalControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
