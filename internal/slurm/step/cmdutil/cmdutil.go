// Package cmdutil prints errors, versions and help texts in the same way for all commands in a pod.
package cmdutil

import (
	"fmt"
	"os"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/slurmerror"
	"github.com/vc-batch/vc/internal/usererror"
)

// SlurmVersion is the version of Slurm whose behavior the commands follow. They print it after the word "slurm", because
// other programs check it.
const SlurmVersion = "26.11.0"

// ReportError prints an error as Slurm does, and returns the exit code. The exit code is 1 if err is not nil, and 0
// otherwise.
func ReportError(program string, err error) int {
	if err != nil {
		f := *usererror.FromError(err)
		f.What = err.Error() // keep the context that was added to the error with the hint
		fmt.Fprint(os.Stderr, slurmerror.FormatText(program, &f))
		return 1
	}
	return 0
}

// PrintInformation prints the version or a help text if the options request it, and reports whether they do.
func PrintInformation(table *getopt.Table, p getopt.Parsed) bool {
	switch {
	case p.Has("version"):
		fmt.Fprintln(os.Stdout, "slurm "+SlurmVersion)
	case p.Has("usage"):
		fmt.Fprint(os.Stdout, table.UsageText())
	case p.Has("help"):
		fmt.Fprintf(os.Stdout, "Usage: %s [options...] %s\n\n%s", table.Program, table.Operands, table.OptionsText())
	default:
		return false
	}
	return true
}

// IsInformationRequest reports whether the options request the version or a help text.
func IsInformationRequest(p getopt.Parsed) bool {
	return p.Has("help") || p.Has("usage") || p.Has("version")
}
