package job

import (
	"bytes"
	"io"
)

// indenter puts two blanks before every line that is written to it.
type indenter struct{ out io.Writer }

func (i *indenter) Write(text []byte) (int, error) {
	var indented bytes.Buffer
	for line := range bytes.Lines(text) {
		indented.WriteString("  ")
		indented.Write(line)
	}
	_, err := i.out.Write(indented.Bytes())
	return len(text), err
}
