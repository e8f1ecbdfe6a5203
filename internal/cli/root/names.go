package root

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm"
	"github.com/vc-batch/vc/internal/cli/volcanocli"
)

// completionPrefix is the name prefix of the program that kubectl calls to complete the arguments of a plugin.
const completionPrefix = "kubectl_complete-"

// programBase returns the base name of a file without the extension .exe.
func programBase(argv0 string) string { return strings.TrimSuffix(filepath.Base(argv0), ".exe") }

// ProgramName returns the program name for messages. For the kubectl plugin kubectl-vc, it returns "kubectl vc".
func ProgramName(argv0 string) string {
	for _, prefix := range []string{"kubectl-", completionPrefix} {
		if rest, found := strings.CutPrefix(programBase(argv0), prefix); found {
			return "kubectl " + strings.ReplaceAll(rest, "_", "-")
		}
	}
	return "vcctl"
}

// selectTree returns the command tree for a program name, together with the arguments for it. The program is vcctl, one
// of Volcano's short programs, or the program for kubectl's plugin completion.
func selectTree(f *cli.Factory, argv0 string, args []string) (*cobra.Command, []string) {
	name := programBase(argv0)
	switch {
	case volcanocli.IsProgram(name):
		f.OldProgram = name
		return volcanocli.New(f, name, func(ctx context.Context, words []string) error {
			cmd := New(f)
			cmd.SetArgs(words)
			return cmd.ExecuteContext(ctx)
		}), args
	case slurm.IsProgram(name):
		return New(f), append([]string{"slurm", name}, args...)
	case strings.HasPrefix(name, completionPrefix):
		return New(f), append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return New(f), args
}
