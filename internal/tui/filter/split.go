package filter

import (
	"errors"
	"strings"
	"unicode"
)

// word is one term as typed.
type word struct {
	text        string
	not, quoted bool
}

// splitTerms splits a text into terms at blanks, except for blanks in quotes. A missing closing quote is added at the
// end, because the user is still typing.
func splitTerms(text string) ([]word, error) {
	var words []word
	rest := strings.TrimLeftFunc(text, unicode.IsSpace)
	for rest != "" {
		var w word
		if after, ok := strings.CutPrefix(rest, "!"); ok {
			w.not, rest = true, after
		}
		if after, ok := strings.CutPrefix(rest, `"`); ok {
			inside, behind, closed := strings.Cut(after, `"`)
			if closed && behind != "" && !unicode.IsSpace([]rune(behind)[0]) {
				return nil, errors.New(`a closing " must be followed by a space`)
			}
			w.text, w.quoted, rest = inside, true, behind
		} else if end := strings.IndexFunc(rest, unicode.IsSpace); end >= 0 {
			w.text, rest = rest[:end], rest[end:]
		} else {
			w.text, rest = rest, ""
		}
		words = append(words, w)
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return words, nil
}
