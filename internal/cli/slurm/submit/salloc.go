package submit

import (
	"context"
	"strings"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/request"
)

var sallocTable = request.OptionTable(request.Salloc, "[COMMAND [ARGS...]]")

// Salloc allocates nodes and runs a shell or a command on them.
var Salloc = program.Program{Table: sallocTable, Run: runSalloc,
	Short: "Allocate nodes and run a shell or command on them",
	Long: `
		Request an allocation, wait for it, and open a shell or run a command on its first
		node. There, srun starts tasks on all nodes. The allocation ends when the shell or
		command exits. Each Slurm node is a pod, and the shell runs in the container image
		of the pod.`,
	Example: `
		# A shell with two processors for at most an hour
		vcctl slurm salloc -c2 -t 60

		# A command on four nodes
		vcctl slurm salloc -N4 mpirun ./a.out`,
}

func runSalloc(ctx context.Context, c *program.Call) error {
	command := c.Parsed.Operands
	title := "interactive"
	if len(command) > 0 {
		title = command[0][strings.LastIndex(command[0], "/")+1:]
	}
	a, err := submitAllocation(ctx, c, request.Salloc, title, nil)
	if a == nil || err != nil {
		return err
	}
	printStatusf(a, "Granted job allocation %s", a.ID)
	received, stop := attach.CaptureInterrupts()
	defer stop()
	ended := make(chan error, 1)
	working := context.WithoutCancel(ctx)
	go func() {
		s := c.Factory.Streams
		code, err := a.ExecInHead(working, attach.Session{Command: append([]string{launchconfig.Program, "session"}, command...), Terminal: s.InTTY && s.OutTTY, Streams: attach.StandardStreams(c)})
		if err == nil {
			err = attach.ExitStatus(code)
		} else {
			cancelJob(ctx, a) // the allocation would never be used
		}
		ended <- err
	}()
	select {
	case err = <-ended:
	case <-received:
		cancelJob(ctx, a)
		err = cli.ExitStatus(program.Interrupted)
	}
	printStatusf(a, "Relinquishing job allocation %s", a.ID)
	return err
}
