package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/usererror"
)

// ParseWords validates the values of a flag, ignoring case. what describes the values in errors, for example "phase of
// a pod group".
func ParseWords(flag, what string, given, known []string) ([]string, error) {
	var words []string
	for _, word := range given {
		at := slices.IndexFunc(known, func(one string) bool { return strings.EqualFold(one, word) })
		if at < 0 {
			_, noun, _ := strings.Cut(flag, "--")
			hint := strings.TrimSuffix(noun, "s") + "s: " + strings.Join(known, ", ")
			if near := FindNearest(word, known); near != "" {
				hint = fmt.Sprintf("did you mean %q? %s", near, hint)
			}
			return nil, usererror.Errorf(hint, "%s: %q is not a %s", flag, word, what)
		}
		words = append(words, known[at])
	}
	return words, nil
}
