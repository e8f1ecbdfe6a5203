package local

import "fmt"

// Error is an error for a person: what is wrong and what to do about it.
type Error struct {
	// What is wrong: lower case, object first, without a full stop.
	What string
	// Hint says what to do.
	Hint string
	// Err is the cause, for errors.Is and errors.As; may be nil.
	Err error
}

func (e *Error) Error() string { return e.What }

func (e *Error) Unwrap() error { return e.Err }

// hinted makes an Error; an error among the arguments of the text becomes its cause.
func hinted(hint, format string, args ...any) *Error {
	e := &Error{What: fmt.Sprintf(format, args...), Hint: hint}
	for _, arg := range args {
		if err, ok := arg.(error); ok {
			e.Err = err
		}
	}
	return e
}
