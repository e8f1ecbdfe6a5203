package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Terminal is a pseudo terminal. The node uses Master; the process uses Slave for its three standard files.
type Terminal struct {
	Master *os.File
	Slave  *os.File
}

// OpenTerminal creates a pseudo terminal.
func OpenTerminal() (*Terminal, error) {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	file := os.NewFile(uintptr(master), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("pseudo terminal: %w", err)
	}
	return &Terminal{Master: file, Slave: slave}, nil
}

// Resize sets the terminal's size in characters.
func (t *Terminal) Resize(width, height uint16) {
	// Fd() would make the master blocking, and reads could then not be interrupted.
	raw, err := t.Master.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height})
	})
}
