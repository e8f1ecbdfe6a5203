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

// completionPrefix is the prefix of the program that kubectl calls to complete a plugin's arguments.
const completionPrefix = "kubectl_complete-"

// program returns the base name of a file without .exe.
func program(argv0 string) string { return strings.TrimSuffix(filepath.Base(argv0), ".exe") }

// ProgramName returns the program name for messages: a binary called kubectl-vc is a kubectl plugin, "kubectl vc".
func ProgramName(argv0 string) string {
	for _, prefix := range []string{"kubectl-", completionPrefix} {
		if rest, found := strings.CutPrefix(program(argv0), prefix); found {
			return "kubectl " + strings.ReplaceAll(rest, "_", "-")
		}
	}
	return "vcctl"
}

// treeFor returns the command tree for a program name, and its arguments: the tree of vcctl, of a short program of
// Volcano, or of kubectl's plugin completion.
func treeFor(f *cli.Factory, argv0 string, args []string) (*cobra.Command, []string) {
	name := program(argv0)
	switch {
	case volcanocli.Is(name):
		f.OldProgram = name
		return volcanocli.New(f, name, func(ctx context.Context, words []string) error {
			cmd := New(f)
			cmd.SetArgs(words)
			return cmd.ExecuteContext(ctx)
		}), args
	case slurm.Is(name):
		return New(f), append([]string{"slurm", name}, args...)
	case strings.HasPrefix(name, completionPrefix):
		return New(f), append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return New(f), args
}
