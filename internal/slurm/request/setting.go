package request

import (
	"fmt"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Source says where an option was given: a line of the script, a variable, or else the command line.
type Source struct {
	Line     int
	Variable string
}

// String says it after the option: " (line 7)".
func (s Source) String() string {
	switch {
	case s.Line > 0:
		return fmt.Sprintf(" (line %d)", s.Line)
	case s.Variable != "":
		return " (" + s.Variable + ")"
	}
	return ""
}

// Setting is an option with its value and where it was given.
type Setting struct {
	Option  *Option
	Text    string
	HasText bool
	From    Source
}

// String is the option as it could be given: --nodes=4.
func (s Setting) String() string {
	if s.Option.Arg == getopt.None || !s.HasText {
		return "--" + s.Option.Long
	}
	return "--" + s.Option.Long + "=" + s.Text
}
