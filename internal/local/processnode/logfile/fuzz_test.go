package logfile

import (
	"bytes"
	"testing"
)

func FuzzParseLine(f *testing.F) {
	f.Add([]byte("2026-01-02T03:04:05.678Z stdout F hello world\n"))
	f.Add([]byte("2026-01-02T03:04:05Z stderr P \n"))
	f.Add([]byte("x y z\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		line, ok := ParseLine(raw)
		if !ok {
			return
		}
		tag := "F"
		if line.Partial {
			tag = "P"
		}
		rest := bytes.SplitN(bytes.TrimSuffix(raw, []byte("\n")), []byte(" "), 4)
		if line.Stream != string(rest[1]) || !bytes.Equal(line.Text, rest[3]) || (tag == "P") != (string(rest[2]) == "P") {
			t.Errorf("%q read as %+v", raw, line)
		}
	})
}
