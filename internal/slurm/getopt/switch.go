package getopt

import "strings"

// IsOn reports whether an environment variable's value turns on a switch: an empty value, yes, or a number other than
// 0.
func IsOn(text string) bool {
	if text == "" || strings.EqualFold(text, "yes") {
		return true
	}
	return strings.Trim(text, "0123456789") == "" && strings.Trim(text, "0") != ""
}
