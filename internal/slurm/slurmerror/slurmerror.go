// Package slurmerror formats errors as Slurm's commands print them.
package slurmerror

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/usererror"
)

// CodeDirective is the exit code for an error in a directive of a script.
const CodeDirective = 255

// usage is the cause of the error for an invalid command line. FormatText formats such an error without the word
// "error", as getopt_long does.
type usage struct{ error }

// NewUsageError returns the error for an invalid command line.
func NewUsageError(program string, err error) *usererror.Error {
	return &usererror.Error{What: err.Error() + "\n" + fmt.Sprintf("Try %q for more information", program+" --help"), Err: usage{err}}
}

// FormatText formats an error as the program prints it: `sbatch: error: What` for each line of the text and, if there
// is a hint, `sbatch: hint: Hint`.
func FormatText(program string, e *usererror.Error) string {
	var invalid usage
	if errors.As(e.Err, &invalid) {
		return program + ": " + e.What + "\n"
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
