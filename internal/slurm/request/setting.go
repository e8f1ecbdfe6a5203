package request

import (
	"errors"
	"fmt"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Source is the place where an option was specified: a line of the script, a variable or, if both are empty, the
// command line.
type Source struct {
	Line     int
	Variable string
}

// String returns the source as a suffix for the option, such as " (line 7)".
func (s Source) String() string {
	switch {
	case s.Line > 0:
		return fmt.Sprintf(" (line %d)", s.Line)
	case s.Variable != "":
		return " (" + s.Variable + ")"
	}
	return ""
}

// ErrNamesLine is the cause of errors whose messages name the line of the script.
var ErrNamesLine = errors.New("the message names the line")

// cause returns the cause of an error whose message ends with the source.
func (s Source) cause() error {
	if s.Line > 0 {
		return ErrNamesLine
	}
	return nil
}

// Setting is an option with its value and source.
type Setting struct {
	Option  *Option
	Text    string
	HasText bool
	From    Source
}

// String returns the option in the form of a command line, such as --nodes=4.
func (s Setting) String() string {
	if s.Option.Arg == getopt.None || !s.HasText {
		return "--" + s.Option.Long
	}
	return "--" + s.Option.Long + "=" + s.Text
}
