package getopt

import "strings"

// IsOn reads the value of a variable that stands for a switch: empty, yes, or a number that is not 0.
func IsOn(text string) bool {
	if text == "" || strings.EqualFold(text, "yes") {
		return true
	}
	return strings.Trim(text, "0123456789") == "" && strings.Trim(text, "0") != ""
}
