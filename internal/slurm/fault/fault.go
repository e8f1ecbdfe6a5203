// Package fault is what is wrong with what a person asked of a Slurm command, in the form in which Slurm says it.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of errors.
const (
	CodeError = 1
	// CodeDirective is that of an error in a directive of a script.
	CodeDirective = 255
)

// Error is an error of a Slurm command: `sbatch: error: What`, and `sbatch: hint: Hint` where there is one.
type Error struct {
	// What is wrong; further lines are printed as errors of their own.
	What string
	// Hint says what to do instead; it may be empty.
	Hint string
	// Code is the exit code; 0 means 1.
	Code int
	// Bare errors are printed without the word error, as getopt_long does.
	Bare bool
	// Err is the cause, for errors.Is and errors.As; it may be nil.
	Err error
}

func (e *Error) Error() string { return e.What }

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error.
func Errorf(hint, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Hint: hint, Code: CodeError}
}

// Hinted is err with a hint. One that it has is kept: who found the mistake knows best.
func Hinted(err error, hint string) *Error {
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

// Usage is an error of getopt.
func Usage(program string, err error) *Error {
	return &Error{What: err.Error() + "\n" + fmt.Sprintf("Try %q for more information", program+" --help"), Code: CodeError, Bare: true}
}

// WithCode is the error with another exit code.
func (e *Error) WithCode(code int) *Error {
	other := *e
	other.Code = code
	return &other
}

// Text is the error as a program prints it.
func (e *Error) Text(program string) string {
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

// Of is err as an Error; what is none becomes one without a hint.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{What: err.Error(), Code: CodeError}
}
