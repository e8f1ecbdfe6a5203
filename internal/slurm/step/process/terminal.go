package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo terminal. This process uses Master, and the task uses Slave.
type Terminal struct{ Master, Slave *os.File }

// OpenTerminal opens a pseudo terminal of the given size.
func OpenTerminal(width, height uint16) (*Terminal, error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	number, err := -1, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	if err == nil {
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
	}
	if err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = master.Close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	t := &Terminal{master, slave}
	t.SetSize(width, height)
	return t, nil
}

// SetSize sets the size of the terminal. It does nothing if the width or the height is unknown (0).
func (t *Terminal) SetSize(width, height uint16) {
	if width == 0 || height == 0 {
		return
	}
	// Do not use Fd, because it would make the master blocking, and pending reads could then not be interrupted.
	if raw, err := t.Master.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height})
		})
	}
}

// WindowSize returns the size of the terminal to which a file refers. It returns zeros if the file is not a terminal.
func WindowSize(file *os.File) (width, height uint16) {
	size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0
	}
	return size.Col, size.Row
}
