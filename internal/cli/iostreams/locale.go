package iostreams

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// cutMark is the mark at the end of texts that render has shortened. asciiCutMark, which has the same width, replaces
// it in locales that cannot show it.
const cutMark, asciiCutMark = "…", "~"

// readLocale returns the locale that is set in the environment, or "".
func (s *Streams) readLocale() string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := s.Env(name); value != "" {
			return strings.ToLower(value)
		}
	}
	return ""
}

func isUTF8(locale string) bool {
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// applyLocale replaces the cut mark on terminals whose locale does not use UTF-8. Files and pipes always receive UTF-8.
func (s *Streams) applyLocale() {
	locale := s.readLocale()
	if locale == "" || isUTF8(locale) {
		return
	}
	if s.OutTTY {
		s.Out = withASCIIMarks(s.Out)
	}
	if s.ErrTTY {
		s.Err = withASCIIMarks(s.Err)
	}
}

// withASCIIMarks wraps a writer so that cut marks are replaced. An *os.File remains recognizable as a file, because
// the dashboard needs the terminal.
func withASCIIMarks(to io.Writer) io.Writer {
	if file, is := to.(*os.File); is {
		return asciiFile{file}
	}
	return asciiMarks{to}
}

// asciiFile is a terminal on which cut marks are replaced.
type asciiFile struct{ *os.File }

func (a asciiFile) Write(text []byte) (int, error) { return asciiMarks{a.File}.Write(text) }

func (a asciiFile) WriteString(text string) (int, error) { return a.Write([]byte(text)) }

// asciiMarks is a writer that replaces the cut mark with its ASCII form.
type asciiMarks struct{ to io.Writer }

func (a asciiMarks) Write(text []byte) (int, error) {
	if _, err := a.to.Write(bytes.ReplaceAll(text, []byte(cutMark), []byte(asciiCutMark))); err != nil {
		return 0, err
	}
	return len(text), nil
}
