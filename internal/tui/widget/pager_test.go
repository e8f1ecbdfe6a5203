package widget

import "testing"

func TestEscapesOfProgramsDoNotReachTheTerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m":        "red",
		"\x1b]0;title\x07text":        "text",
		"\x1b]8;;http://x\x1b\\link":  "link",
		"10%\r 50%\r100%":             "100%",
		"a\tb":                        "a    b",
		"half an escape \x1b":         "half an escape ",
		"cursor up \x1b[2A and \x1b7": "cursor up  and ",
	} {
		if got := PlainText(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
