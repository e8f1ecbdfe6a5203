package render

import "strings"

// placeholder is the program name in the commands in hints and help texts. It is needed because hints are also stored
// in the API, where the program that the reader uses is unknown.
const placeholder = "vcctl"

// ReplaceProgramName replaces the placeholder in the commands of a text with the program that the user typed, such as
// `kubectl vc`.
func ReplaceProgramName(text, program string) string {
	if program == "" || program == placeholder {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, placeholder+" ")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		word := program
		if endsInsideWord(before) {
			word = placeholder
		}
		b.WriteString(word + " ")
		text = after
	}
}

// endsInsideWord reports whether the next character of a text would continue a word or a path.
func endsInsideWord(text string) bool {
	if text == "" {
		return false
	}
	c := text[len(text)-1]
	lower := c | 0x20 // of an ASCII letter
	isLetter := 'a' <= lower && lower <= 'z'
	isDigit := '0' <= c && c <= '9'
	return isLetter || isDigit || strings.IndexByte("-_./", c) >= 0
}
