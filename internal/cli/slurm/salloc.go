package slurm

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/request"
)

var sallocTable = request.OptionTable(request.Salloc, "[COMMAND [ARGS...]]")

func newSalloc(f *cli.Factory) *cobra.Command {
	return newProgramCommand(f, program{table: sallocTable, run: runSalloc,
		short: "Allocate nodes and run a shell or command on them",
		long: `
			Request an allocation, wait for it, and open a shell or run a command on its first
			node. There, srun starts tasks on all nodes. The allocation ends with the shell.
			Each Slurm node is a pod: the shell runs in the pod, in its container image.`,
		example: `
			# A shell with two processors for at most an hour
			vcctl slurm salloc -c2 -t 60

			# A command on four nodes
			vcctl slurm salloc -N4 mpirun ./a.out`,
	})
}

func runSalloc(ctx context.Context, c *call) error {
	command := c.parsed.Operands
	title := "interactive"
	if len(command) > 0 {
		title = command[0][strings.LastIndex(command[0], "/")+1:]
	}
	a, err := c.submitAllocation(ctx, request.Salloc, title, nil)
	if a == nil || err != nil {
		return err
	}
	a.printStatusf("Granted job allocation %s", a.id)
	received, stop := captureInterrupts()
	defer stop()
	ended := make(chan error, 1)
	working := context.WithoutCancel(ctx)
	go func() {
		s := c.f.Streams
		code, err := a.execInHead(working, session{command: append([]string{launchconfig.Program, "session"}, command...), terminal: s.InTTY && s.OutTTY, streams: c.standardStreams()})
		if err == nil {
			err = exitStatus(code)
		} else {
			a.cancelJob(ctx) // the allocation would never be used
		}
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-received:
		a.cancelJob(ctx)
		err = cli.ExitStatus(interrupted)
	}
	a.printStatusf("Relinquishing job allocation %s", a.id)
	return err
}
