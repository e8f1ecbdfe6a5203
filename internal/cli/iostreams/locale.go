package iostreams

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// cutMark is what render puts where a text is cut, asciiCutMark what stands for it where the locale cannot show it: it is as wide.
const cutMark, asciiCutMark = "…", "~"

// locale returns what the environment says about the encoding of text; "" if it says nothing.
func (s *Streams) locale() string {
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

// inLocale makes the terminals of a user whose locale is not UTF-8 show cut texts without characters that the locale lacks. Files
// and pipes get UTF-8 always.
func (s *Streams) inLocale() {
	locale := s.locale()
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

// withASCIIMarks keeps a file a file: the dashboard has to know its terminal.
func withASCIIMarks(to io.Writer) io.Writer {
	if file, is := to.(*os.File); is {
		return asciiFile{file}
	}
	return asciiMarks{to}
}

// asciiFile is a terminal that asciiMarks writes to.
type asciiFile struct{ *os.File }

func (a asciiFile) Write(text []byte) (int, error) { return asciiMarks{a.File}.Write(text) }

func (a asciiFile) WriteString(text string) (int, error) { return a.Write([]byte(text)) }

// asciiMarks writes the mark of cut texts in ASCII.
type asciiMarks struct{ to io.Writer }

func (a asciiMarks) Write(text []byte) (int, error) {
	if _, err := a.to.Write(bytes.ReplaceAll(text, []byte(cutMark), []byte(asciiCutMark))); err != nil {
		return 0, err
	}
	return len(text), nil
}
