package printable

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestTextOfOthersIsShownAndNotObeyed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, line, lines string }{
		"plain text stays":                     {"train-0", "train-0", "train-0"},
		"letters of all languages stay":        {"Größe 模型 🚀", "Größe 模型 🚀", "Größe 模型 🚀"},
		"an escape sequence is visible":        {"\x1b[2Jx\x1b]0;t\a", `\x1b[2Jx\x1b]0;t\x07`, `\x1b[2Jx\x1b]0;t\x07`},
		"so are 8-bit controls":                {"a\u009b31mb", `a\u009b31mb`, `a\u009b31mb`},
		"a line break cannot forge a row":      {"a\nforged  row\r\nb", "a forged  row b", "a\nforged  row\\x0d\nb"},
		"nor can other breaks":                 {"a\vb\u2028c\u0085d", "a b c d", `a\x0bb\u2028c\u0085d`},
		"a tab is a blank in a line":           {"a\tb", "a b", "a\tb"},
		"text does not change its direction":   {"a\u202eb\u2066c", `a\u202eb\u2066c`, `a\u202eb\u2066c`},
		"bytes that are no text are visible":   {"a\xffb", `a\xffb`, `a\xffb`},
		"the replacement character itself too": {"a\ufffdb", "a\ufffdb", "a\ufffdb"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := EscapeLine(tc.text); got != tc.line {
				t.Errorf("Line(%q) = %q, want %q", tc.text, got, tc.line)
			}
			if got := EscapeText(tc.text); got != tc.lines {
				t.Errorf("Text(%q) = %q, want %q", tc.text, got, tc.lines)
			}
		})
	}
}

func TestALineHoldsNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")) + rapid.String().Draw(t, "more")
		line := EscapeLine(text)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, isTerminalControl) {
			t.Fatalf("Line(%q) = %q", text, line)
		}
		if again := EscapeLine(line); again != line {
			t.Fatalf("Line is not stable: %q becomes %q", line, again)
		}
	})
}
