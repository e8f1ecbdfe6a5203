// Command vc-local runs a whole cluster on this machine in a single process: a real Kubernetes API, nodes that run
// pods as processes or only simulate them, and vc's scheduler, controllers and admission.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // the machine may have no time zone data

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli/flagerrors"
	"github.com/vc-batch/vc/internal/local/processnode"
	"github.com/vc-batch/vc/internal/usererror"
)

// Exit codes: success, error (including usage errors), interrupted.
const (
	exitOK          = 0
	exitError       = 1
	exitInterrupted = 130
)

func main() {
	// This call must come first, because the binary is also the first process of every container.
	processnode.ShimMain()
	tuneMemory(gcPercentStarting)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := runCommand(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runCommand runs the program with the given arguments and returns its exit code.
func runCommand(ctx context.Context, args []string, out, errOut io.Writer) int {
	root := newRoot(out, errOut)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if errors.Is(err, errInterrupted) {
		return exitInterrupted
	}
	if err != nil {
		printError(errOut, err)
		return exitError
	}
	return exitOK
}

// errInterrupted means that the user interrupted the command. It is not printed.
var errInterrupted = errors.New("interrupted")

func newRoot(out, errOut io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "vc-local",
		Short: "Run a whole cluster on this machine in one process",
		Long: `vc-local runs a real Kubernetes API server with vc's scheduler, controllers and
admission on this machine, in one process. Process nodes run the pods' containers
as processes of this machine. Simulated nodes only simulate the pods, so a cluster
can have thousands of simulated nodes.`,
		Example: `  # Start, use and stop a cluster; the state is kept
  vc-local up --detach
  export KUBECONFIG=~/.local/state/vc-local/kubeconfig
  vc-local down

  # Run a thousand simulated nodes; the state is removed when the cluster stops
  vc-local up --ephemeral --process-nodes 0 --simulated-nodes 1000`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(out)
	root.SetErr(errOut)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(newUp(runUp), newDown(), newStatus(), newNodes())
	return root
}

// usageError returns an error whose hint refers to the command's help.
func usageError(cmd *cobra.Command, err error) error {
	return &usererror.Error{What: err.Error(), Hint: fmt.Sprintf("see %s --help", cmd.CommandPath()), Err: err}
}

// flagError returns an error that describes an invalid flag. Its hint contains an example, if there is one, and refers
// to the help.
func flagError(cmd *cobra.Command, err error) error {
	what, example, ok := flagerrors.DescribeError(err)
	if !ok {
		return usageError(cmd, err)
	}
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if example != "" {
		hint = example + "; " + hint
	}
	return &usererror.Error{What: what, Hint: hint, Err: err}
}

// rejectArguments returns an error that names the first argument, if there are any arguments.
func rejectArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError(cmd, fmt.Errorf("unknown argument %q", args[0]))
	}
	return nil
}

// printError prints an error and its hint.
func printError(errOut io.Writer, err error) {
	var human *usererror.Error
	if !errors.As(err, &human) {
		human = &usererror.Error{What: err.Error()}
		if strings.HasPrefix(human.What, "unknown command") {
			human.Hint = "see vc-local --help"
		}
	}
	indent := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n       ") }
	fmt.Fprintf(errOut, "error: %s\n", indent(human.What))
	if human.Hint != "" {
		fmt.Fprintf(errOut, "hint:  %s\n", indent(human.Hint))
	}
}
