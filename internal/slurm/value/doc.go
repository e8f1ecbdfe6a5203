// Package value reads and writes the values of Slurm's options: times, sizes, counts, arrays, generic resources, dates,
// signals, job numbers, features.
//
//	In:   the text of one value
//	Out:  the value; or *Bad, which says what to write instead where that is known
//
// # Invariants
//
//   - Pure. The one function that needs to know the time of day is given it.
//   - What String writes, the same type's Parse function reads back as the same value.
package value

// Bad is a value that cannot be read. Which option it was given to, and how Slurm says so, its reader knows.
type Bad struct {
	// Hint says what to write instead; it may be empty.
	Hint string
}

func (b *Bad) Error() string {
	if b.Hint == "" {
		return "invalid value"
	}
	return "invalid value: " + b.Hint
}

// bad makes an error of a hint.
func bad(hint string) error { return &Bad{Hint: hint} }
