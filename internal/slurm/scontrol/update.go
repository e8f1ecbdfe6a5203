package scontrol

import (
	"fmt"
	"strings"
)

// Word is a NAME=value argument. Names are case-insensitive.
type Word struct{ Name, Value string }

// ParseUpdate parses the arguments of an update. An operator before =, as in TimeLimit+=30, becomes part of the name,
// which is then rejected as unknown.
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

// HasName reports whether the word has one of the given names.
func (w Word) HasName(names ...string) bool {
	for _, name := range names {
		if strings.EqualFold(w.Name, name) {
			return true
		}
	}
	return false
}
