// Package optionvalue parses and formats the values of Slurm's options: times, sizes, counts, arrays, generic
// resources, dates, signals, job numbers, features.
//
//	In:   the text of one value
//	Out:  the value, or *Bad with an optional hint
//
// # Invariants
//
//   - All functions are pure. The caller provides the current time.
//   - Parsing the result of String with the Parse function of the same type returns the same value.
package optionvalue

import "errors"

// Bad is the error for an invalid value. The caller adds the name of the option and Slurm's message.
type Bad struct {
	// Hint explains what to write instead. It may be empty.
	Hint string
}

func (b *Bad) Error() string {
	if b.Hint == "" {
		return "invalid value"
	}
	return "invalid value: " + b.Hint
}

// HintOf returns the hint of an error, which is the whole text of an error of another type.
func HintOf(err error) string {
	var bad *Bad
	if errors.As(err, &bad) {
		return bad.Hint
	}
	return err.Error()
}

// newError returns an error with a hint.
func newError(hint string) error { return &Bad{Hint: hint} }
