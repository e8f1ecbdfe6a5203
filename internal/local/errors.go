package local

import "fmt"

// Error is an error with a hint for the user.
type Error struct {
	// What describes the problem: it starts with the object in lower case and has no full stop.
	What string
	// Hint is the next step for the user.
	Hint string
	// Err is the cause, for errors.Is and errors.As. It may be nil.
	Err error
}

func (e *Error) Error() string { return e.What }

func (e *Error) Unwrap() error { return e.Err }

// newHintedError creates an Error. If an argument is an error, it becomes the cause.
func newHintedError(hint, format string, args ...any) *Error {
	e := &Error{What: fmt.Sprintf(format, args...), Hint: hint}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			e.Err = err
		}
	}
	return e
}
