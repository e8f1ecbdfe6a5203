package cli

import "regexp"

// jargon maps library messages about unreadable values to plain language.
var jargon = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`quantities must match the regular expression '[^']*'`), "this is not a valid quantity; examples: 2, 500m, 4Gi"},
	{regexp.MustCompile(`unable to parse quantity's suffix`), "this is not a valid quantity; examples: 2, 500m, 4Gi"},
	{regexp.MustCompile(` ?\(e\.g\. +('[^']*'(?:, +or +'[^']*')*), regex used for validation is '[^']*'\)`), " (for example $1)"},
	{regexp.MustCompile(`json: cannot unmarshal (\w+) into Go value of type (?:unstructured\.detector|map\[string\]\S+|struct \{.*\})`), "this is a value of type $1, not an object with apiVersion and kind"},
	{regexp.MustCompile(`json: cannot unmarshal (\w+) into Go struct field \w+\.(\S+) of type (?:\w+\.)?(\w+)`), "$2: got a value of type $1, but the field requires type $3"},
	{regexp.MustCompile(`cannot unmarshal (\w+) into Go (?:struct field|value of type) (\S+)(?: of type (\S+))?`), "a value of type $1 is not allowed here ($2)"},
}

// SimplifyMessage replaces messages of Go and its libraries with plain language for users.
func SimplifyMessage(text string) string {
	for _, one := range jargon {
		text = one.theirs.ReplaceAllString(text, one.ours)
	}
	return text
}
