// Package iostreams contains the input and output streams of a command, and the properties of its terminal: width,
// height and color support. Commands never use os.Stdout directly; tests use buffers and a fixed width.
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

// Streams holds the input and output of a command.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// InTTY and OutTTY report whether the streams are terminals.
	InTTY, OutTTY bool
	// ErrTTY reports whether Err is a terminal, on which progress can be shown.
	ErrTTY bool
	// Width is the width of the terminal in columns; 0 if Out is not a terminal.
	Width int
	// Height is the height of the terminal in lines; 0 if unknown.
	Height int
	// RunPager shows text in a pager. It reports whether the pager could be started. A nil RunPager disables the
	// pager.
	RunPager func(command string, text []byte) bool
	// RunEditor opens a file in an editor, which is given as a shell command. It returns when the editor has exited.
	RunEditor func(command, path string) error
	// Env returns the value of an environment variable.
	Env func(string) string
	// Environ returns the whole environment as NAME=value; nil means an empty environment.
	Environ func() []string
	// Account returns the name of the user in the operating system, or ""; it may be nil.
	Account func() string
	// Interrupted is closed when the user has interrupted the program. It may be nil.
	Interrupted <-chan struct{}
	// ColorMode is auto, always or never.
	ColorMode string
}

// SystemStreams returns the streams of this process.
func SystemStreams() Streams {
	s := Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv, Environ: os.Environ, Account: accountName, ColorMode: "auto", RunEditor: runEditor}
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
	s.applyLocale()
	return s
}

func accountName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// FindUserName returns the name of the user, which commands record in jobs. It is taken from the environment or, if it
// is not set there, from the operating system. It may be "".
func (s *Streams) FindUserName() string {
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

// ReadAll reads standard input to its end. If the program is interrupted first, ReadAll returns and leaves the
// reading goroutine behind, because the program is about to exit.
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

// TestStreams returns streams that use buffers. If width is positive, the output is a terminal of that width. The
// environment is empty, and colors are off.
func TestStreams(input string, width int) (streams Streams, out, errOut *bytes.Buffer) {
	out, errOut = &bytes.Buffer{}, &bytes.Buffer{}
	return Streams{
		In: strings.NewReader(input), Out: out, Err: errOut,
		OutTTY: width > 0, InTTY: width > 0, Width: width,
		Env: func(string) string { return "" }, ColorMode: "never",
		RunEditor: func(string, string) error { return nil }, // leaves the file unchanged
	}, out, errOut
}

// IsColored reports whether the output is colored. This depends, in this order, on the flag, NO_COLOR, CLICOLOR_FORCE,
// CLICOLOR and TERM, and on whether the output is a terminal.
func (s *Streams) IsColored() bool {
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

// SupportsUnicode reports whether the terminal can show block characters.
func (s *Streams) SupportsUnicode() bool {
	if !s.OutTTY || s.Env("TERM") == "dumb" || s.Env("TERM") == "linux" {
		return false
	}
	return isUTF8(s.readLocale())
}
