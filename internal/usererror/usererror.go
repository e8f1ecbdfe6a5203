// Package usererror defines the errors for users: what is wrong, where, and what to do about it. Each program prints
// them in its own format.
package usererror

import (
	"errors"
	"fmt"
)

// Error is an error for users. It describes the problem and how to solve it.
type Error struct {
	// What describes the problem. It starts with the object in lower case and has no full stop. For errors of Slurm's
	// commands, it has the same wording as in Slurm.
	What string
	// Hint describes what the user can do; it may be empty.
	Hint string
	// At is the position in a file, in the form FILE:LINE, which editors can open; it may be empty.
	At string
	// Code is the exit code; 0 means that the program chooses it, usually 1.
	Code int
	// Err is the cause, for errors.Is and errors.As; it may be nil.
	Err error
}

func (e *Error) Error() string { return e.What }

func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a hint and without a cause.
func Errorf(hint, format string, args ...any) *Error {
	return &Error{What: fmt.Sprintf(format, args...), Hint: hint}
}

// Wrapf returns an Error with a hint. If an argument is an error, it becomes the cause.
func Wrapf(hint, format string, args ...any) *Error {
	e := Errorf(hint, format, args...)
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			e.Err = err
		}
	}
	return e
}

// WithHint adds a hint to err. If err already has a hint, that hint is kept because it is more specific.
func WithHint(err error, hint string) *Error {
	e := &Error{What: err.Error(), Hint: hint, Err: err}
	var inner *Error
	if errors.As(err, &inner) {
		e.Code = inner.Code
		if inner.Hint != "" {
			e.Hint = inner.Hint
		}
	}
	return e
}

// WithCode returns a copy of the error with another exit code.
func (e *Error) WithCode(code int) *Error {
	other := *e
	other.Code = code
	return &other
}

// FromError returns err as an *Error. An error of another type is converted to an Error without a hint.
func FromError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{What: err.Error()}
}

// Flatten returns the errors that were joined into err, at any depth; if err is a single error, it returns only err.
func Flatten(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, Flatten(one)...)
	}
	return all
}

// Map replaces each error that was joined into err with the result of change, and joins the results. If err is not a
// joined error, Map returns the result of change for err. A nil result removes the error.
func Map(err error, change func(error) error) error {
	if err == nil {
		return nil
	}
	if !IsJoined(err) {
		return change(err)
	}
	var all []error
	for _, one := range Flatten(err) {
		all = append(all, change(one))
	}
	return errors.Join(all...)
}

// IsJoined reports whether err consists of several errors.
func IsJoined(err error) bool {
	_, joined := err.(interface{ Unwrap() []error })
	return joined
}
