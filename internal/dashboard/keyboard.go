package dashboard

import (
	"errors"
	"io"
	"os"
)

// openKeyboard returns the terminal's input for one shell. After the shell has ended, a read that is still waiting for
// a key would take the first key away from the dashboard. Therefore, openKeyboard opens the terminal a second time, and
// done closes it, which ends the read.
func openKeyboard(in io.Reader) (own io.Reader, done func()) {
	if _, file := in.(*os.File); !file {
		return in, func() {}
	}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDONLY, 0)
	if err != nil {
		return in, func() {}
	}
	return untilClosed{terminal}, func() { _ = terminal.Close() }
}

// untilClosed returns io.EOF when its reader has been closed.
type untilClosed struct{ io.Reader }

func (r untilClosed) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if errors.Is(err, os.ErrClosed) {
		err = io.EOF
	}
	return n, err
}
