// Package usererror defines the errors of Slurm's commands. The errors have hints and are printed in Slurm's format.
package usererror

import (
	"errors"
	"fmt"
	"strings"
)

// Exit codes for errors.
const (
	CodeError = 1
	// CodeDirective is the exit code for an error in a directive of a script.
	CodeDirective = 255
)

// Error is an error of a Slurm command. It is printed as `sbatch: error: What` and, if there is a hint, `sbatch:
// hint: Hint`.
type Error struct {
	// What describes the error. Further lines are printed as separate errors.
	What string
	// Hint suggests what to do instead; it may be empty.
	Hint string
	// Code is the exit code; 0 means 1.
	Code int
	// Bare is true if the error is printed without the word "error", as getopt_long does.
	Bare bool
	// Err is the cause, for errors.Is and errors.As; it may be nil.
	Err error
}

func (e *Error) Error() string { return e.What }

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error.
func Errorf(hint, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Hint: hint, Code: CodeError}
}

// WithHint adds a hint to err. If err already has a hint, that hint is kept because it is more specific.
func WithHint(err error, hint string) *Error {
	e := &Error{What: err.Error(), Hint: hint, Code: CodeError, Err: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.Code = inner.Code
		if inner.Hint != "" {
			e.Hint = inner.Hint
		}
	}
	return e
}

// NewUsageError returns the error for an invalid command line.
func NewUsageError(program string, err error) *Error {
	return &Error{What: err.Error() + "\n" + fmt.Sprintf("Try %q for more information", program+" --help"), Code: CodeError, Bare: true}
}

// WithCode returns a copy of the error with another exit code.
func (e *Error) WithCode(code int) *Error {
	other := *e
	other.Code = code
	return &other
}

// FormatText returns the error as the program prints it.
func (e *Error) FormatText(program string) string {
	if e.Bare {
		first, rest, more := strings.Cut(e.What, "\n")
		if text := program + ": " + first + "\n"; !more {
			return text
		}
		return program + ": " + first + "\n" + rest + "\n"
	}
	var b strings.Builder
	for line := range strings.SplitSeq(e.What, "\n") {
		b.WriteString(program + ": error: " + line + "\n")
	}
	if e.Hint != "" {
		b.WriteString(program + ": hint: " + strings.ReplaceAll(e.Hint, "\n", "\n"+program+": hint: ") + "\n")
	}
	return b.String()
}

// FromError returns err as an *Error. An error of another type is converted to an Error without a hint.
func FromError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{What: err.Error(), Code: CodeError}
}
