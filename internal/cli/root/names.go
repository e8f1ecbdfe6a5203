package root

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/legacy"
	"github.com/vc-batch/vc/internal/cli/slurm"
)

// completionPrefix begins the name of the program that kubectl calls to complete a plugin's words.
const completionPrefix = "kubectl_complete-"

// program is the name of a file as the user thinks of it: without directory and .exe.
func program(argv0 string) string { return strings.TrimSuffix(filepath.Base(argv0), ".exe") }

// ProgramName says how the user called this binary: a name of the form
// kubectl-vc is a plugin of kubectl and shows itself as "kubectl vc".
func ProgramName(argv0 string) string {
	for _, prefix := range []string{"kubectl-", completionPrefix} {
		if rest, found := strings.CutPrefix(program(argv0), prefix); found {
			return "kubectl " + strings.ReplaceAll(rest, "_", "-")
		}
	}
	return "vcctl"
}

// treeFor returns the commands that go by a name, and the arguments for them: those of
// vcctl, those of one of Volcano's short programs, or kubectl's question what could follow.
func treeFor(f *cli.Factory, argv0 string, args []string) (*cobra.Command, []string) {
	name := program(argv0)
	switch {
	case legacy.Is(name):
		f.OldProgram = name
		return legacy.New(f, name, func(ctx context.Context, words []string) error {
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
