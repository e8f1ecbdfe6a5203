package getopt

import "strings"

// IsAbbreviation reports whether text, in any case, is a beginning of word with at least the given number of letters.
func IsAbbreviation(text, word string, least int) bool {
	return len(text) >= least && strings.HasPrefix(word, strings.ToLower(text))
}

// IsSwitchedOn reports whether the value of an environment variable turns on a switch. The switch is on if the value is
// empty, yes, or a number other than 0.
func IsSwitchedOn(text string) bool {
	if text == "" || strings.EqualFold(text, "yes") {
		return true
	}
	return strings.Trim(text, "0123456789") == "" && strings.Trim(text, "0") != ""
}
