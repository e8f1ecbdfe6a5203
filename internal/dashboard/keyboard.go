package dashboard

import (
	"errors"
	"io"
	"os"
)

// keyboard is the terminal's input for one shell. A read that still waits for a key
// when the shell has ended would swallow the first key that is meant for the dashboard,
// so the terminal is opened anew, and closing that ends the read.
func keyboard(in io.Reader) (own io.Reader, done func()) {
	if _, file := in.(*os.File); !file {
		return in, func() {}
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return in, func() {}
	}
	return untilClosed{terminal}, func() { _ = terminal.Close() }
}

// untilClosed ends like a file when what is read was closed.
type untilClosed struct{ io.Reader }

func (r untilClosed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}
