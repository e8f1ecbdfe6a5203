package slurmerror

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// Errorf returns an error with one of Slurm's own texts. Unlike the errors of this project, these texts start with a
// capital letter.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// errNotExist has the text that the C library, and thus Slurm, uses for a missing file.
var errNotExist = Errorf("No such file or directory")

// SystemReason returns the system's description of an error, without the call and the path.
func SystemReason(err error) error {
	var number syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errNotExist
	case errors.As(err, &number):
		return number
	}
	return err
}
