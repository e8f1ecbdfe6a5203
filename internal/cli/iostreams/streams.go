// Package iostreams is what a command knows about the terminal it talks to:
// where to read and write, how wide it is, and whether colour is wanted.
// Commands never touch os.Stdout; tests hand in buffers and a width.
package iostreams

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/user"
	"strings"

	"golang.org/x/term"
)

// Streams are the input and output of one command.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// InTTY and OutTTY say whether a person sits there.
	InTTY, OutTTY bool
	// ErrTTY says whether progress may be shown on Err.
	ErrTTY bool
	// Width of the terminal in cells; 0 when Out is none.
	Width int
	// Height of the terminal in lines; 0 when it is not known.
	Height int
	// RunPager shows text in a pager and reports whether that could be started; nil is no pager.
	RunPager func(command string, text []byte) bool
	// RunEditor opens a file in an editor, a command of a shell, and returns when that has ended.
	RunEditor func(command, path string) error
	// Env looks a variable of the environment up.
	Env func(string) string
	// Environ is the whole environment as NAME=value; nil is none.
	Environ func() []string
	// Account is what the operating system calls the user, "" where it knows none; nil is "".
	Account func() string
	// Interrupted is closed when the user has interrupted the program; nil never is.
	Interrupted <-chan struct{}
	// ColorMode is auto, always or never.
	ColorMode string
}

// System returns the streams of this process.
func System() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Environ: os.Environ, Account: account, ColorMode: "auto", RunEditor: runEditor}
	s.InTTY = term.IsTerminal(int(os.Stdin.Fd()))
	s.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	s.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if s.OutTTY {
		s.Width = 80
		if width, height, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
			s.Width, s.Height = width, height
		}
		s.RunPager = runPager
	}
	s.inLocale()
	return s
}

func account() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// User is who calls, as jobs are marked with: what the environment says, else the operating system; "" when nobody knows.
func (s *Streams) User() string {
	for _, name := range []string{"USER", "LOGNAME"} {
		if value := s.Env(name); value != "" {
			return value
		}
	}
	if s.Account == nil {
		return ""
	}
	return s.Account()
}

// ReadAll reads standard input to its end, or until the program is interrupted: then the reader is left behind, for
// the program ends.
func (s *Streams) ReadAll() ([]byte, error) {
	type answer struct {
		text []byte
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := io.ReadAll(s.In)
		read <- answer{text, err}
	}()
	select {
	case <-s.Interrupted:
		return nil, context.Canceled
	case one := <-read:
		return one.text, one.err
	}
}

// Test returns streams over buffers. A width above 0 makes the output a
// terminal of that width; the environment is empty and colours are off.
func Test(input string, width int) (streams Streams, out, errOut *bytes.Buffer) {
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	return Streams{
		In: strings.NewReader(input), Out: out, Err: errOut,
		OutTTY: width > 0, InTTY: width > 0, Width: width,
		Env: func(string) string { return "" }, ColorMode: "never",
		RunEditor: func(string, string) error { return nil }, // it changes nothing
	}, out, errOut
}

// Color says whether the output is to be coloured: the flag first, then
// NO_COLOR, CLICOLOR_FORCE, CLICOLOR and TERM, then whether it is a terminal.
func (s *Streams) Color() bool {
	switch s.ColorMode {
	case "always":
		return true
	case "never":
		return false
	}
	if s.Env("NO_COLOR") != "" {
		return false
	}
	if force := s.Env("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return s.OutTTY && s.Env("TERM") != "dumb" && s.Env("CLICOLOR") != "0"
}

// Unicode says whether block characters may be drawn.
func (s *Streams) Unicode() bool {
	if !s.OutTTY || s.Env("TERM") == "dumb" || s.Env("TERM") == "linux" {
		return false
	}
	return isUTF8(s.locale())
}
