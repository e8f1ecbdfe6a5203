package stream

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestKeysArePassedOnUntilCtrlPCtrlQ(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		typed, passed string
		left          bool
	}{
		"ordinary keys":       {"ls\x03\n", "ls\x03\n", false},
		"both keys":           {"ls\x10\x11rm", "ls\x10", true},
		"another key between": {"\x10a\x11b", "\x10a\x11b", false},
		"Ctrl-Q alone":        {"\x11b", "\x11b", false},
		"Ctrl-P twice":        {"\x10\x10\x11b", "\x10\x10", true},
	}
	for name, tc := range cases {
		for how, read := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r }, "key by key": iotest.OneByteReader} {
			t.Run(name+", "+how, func(t *testing.T) {
				left := false
				passed, err := io.ReadAll(&leaver{in: read(strings.NewReader(tc.typed)), leave: func() { left = true }})
				if err != nil || string(passed) != tc.passed || left != tc.left {
					t.Errorf("passed on %q, want %q; left %t, want %t; %v", passed, tc.passed, left, tc.left, err)
				}
			})
		}
	}
}
