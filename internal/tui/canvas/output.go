package canvas

import (
	"cmp"
	"strings"
)

// Text returns the canvas without styles: H lines without trailing blanks, each followed by a line break.
func (c Canvas) Text() string {
	var text strings.Builder
	for y := range c.H {
		line := make([]rune, 0, c.W)
		for x := range c.W {
			switch r := c.At(x, y).Rune; r {
			case Rest:
			case 0:
				line = append(line, ' ')
			default:
				line = append(line, r)
			}
		}
		text.WriteString(strings.TrimRight(string(line), " "))
		text.WriteByte('\n')
	}
	return text.String()
}

// StyledText returns the canvas with escape sequences, as H lines separated by line breaks. open returns the sequence
// that turns a style on. Every change of style begins with a reset.
func (c Canvas) StyledText(open func(Style) string) string {
	const reset = "\x1b[m"
	var text strings.Builder
	text.Grow(c.W*c.H + c.H*32)
	for y := range c.H {
		if y > 0 {
			text.WriteByte('\n')
		}
		now := ""
		for x := range c.W {
			cell := c.At(x, y)
			if cell.Rune == Rest {
				continue
			}
			if next := open(cell.Style); next != now {
				if now != "" {
					text.WriteString(reset)
				}
				text.WriteString(next)
				now = next
			}
			cell.Rune = cmp.Or(cell.Rune, ' ')
			text.WriteRune(cell.Rune)
		}
		if now != "" {
			text.WriteString(reset)
		}
	}
	return text.String()
}
