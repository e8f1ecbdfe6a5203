package scontrol

import (
	"fmt"
	"strings"
)

// Word is NAME=value; names are compared without regard to case.
type Word struct{ Name, Value string }

// ParseUpdate reads the words of an update. A sign in front of =, as in TimeLimit+=30, stays with the name: nothing is called so, and it is refused.
func ParseUpdate(words []string) ([]Word, error) {
	var all []Word
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%s is not NAME=value", word)
		}
		all = append(all, Word{name, value})
	}
	return all, nil
}

// Is says whether a word has this name.
func (w Word) Is(names ...string) bool {
	for _, name := range names {
		if strings.EqualFold(w.Name, name) {
			return true
		}
	}
	return false
}
