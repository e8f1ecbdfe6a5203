package getopt

import "strings"

// IsSwitchedOn reports whether the value of an environment variable turns on a switch. The switch is on if the value is
// empty, yes, or a number other than 0.
func IsSwitchedOn(text string) bool {
	if text == "" || strings.EqualFold(text, "yes") {
		return true
	}
	return strings.Trim(text, "0123456789") == "" && strings.Trim(text, "0") != ""
}
