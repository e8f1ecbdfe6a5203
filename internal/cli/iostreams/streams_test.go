package iostreams

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestColor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		mode string
		tty  bool
		env  map[string]string
		want bool
	}{
		"a terminal is coloured":                   {"auto", true, nil, true},
		"a pipe is not":                            {"auto", false, nil, false},
		"NO_COLOR wins over a terminal":            {"auto", true, map[string]string{"NO_COLOR": "1"}, false},
		"NO_COLOR wins over CLICOLOR_FORCE":        {"auto", true, map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		"CLICOLOR_FORCE colours a pipe":            {"auto", false, map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"CLICOLOR=0 switches off":                  {"auto", true, map[string]string{"CLICOLOR": "0"}, false},
		"a dumb terminal is not coloured":          {"auto", true, map[string]string{"TERM": "dumb"}, false},
		"the flag wins over everything: always":    {"always", false, map[string]string{"NO_COLOR": "1"}, true},
		"the flag wins over everything: never":     {"never", true, map[string]string{"CLICOLOR_FORCE": "1"}, false},
		"CLICOLOR_FORCE=0 does not colour a pipe":  {"auto", false, map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"CLICOLOR=1 does not colour a pipe either": {"auto", false, map[string]string{"CLICOLOR": "1"}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := Streams{ColorMode: tc.mode, OutTTY: tc.tty, Env: func(k string) string { return tc.env[k] }}
			if got := s.IsColored(); got != tc.want {
				t.Errorf("Color() = %v, want %v", got, tc.want)
			}
		})
	}
}

// Ctrl-C ends a read of standard input at once.
func TestReadingEndsWhenInterrupted(t *testing.T) {
	t.Parallel()
	silent, _ := io.Pipe()
	interrupted := make(chan struct{})
	s := Streams{In: silent, Interrupted: interrupted}
	close(interrupted)
	if _, err := s.ReadAll(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	text := Streams{In: strings.NewReader("all")}
	if got, err := text.ReadAll(); string(got) != "all" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
