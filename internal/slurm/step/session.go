package step

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/srun"
)

// RunSession runs a program, or srun, for the user of an interactive allocation. When the program ends, the allocation
// ends with the program's exit code. RunSession returns this code.
func RunSession(ctx context.Context, args []string) int {
	client, err := jobclient.New()
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	conn, err := client.SendToLauncher(ctx, protocol.Request{Session: true})
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	defer conn.Close()
	if err := conn.ReceiveAnswer(nil, nil); err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	code := runWithEnvironment(ctx, client, args)
	if err := client.QueryHead(ctx, protocol.Request{End: &protocol.EndRequest{Code: code, Leave: true}}, nil); err != nil {
		return max(code, cmdutil.ReportError("vc-step", err))
	}
	return code
}

// RunInEnvironment runs a program, or srun, with the environment of the job's script, and returns the exit code. It
// does not affect other processes of the job.
func RunInEnvironment(ctx context.Context, args []string) int {
	client, err := jobclient.New()
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	return runWithEnvironment(ctx, client, args)
}

// runWithEnvironment runs a program with the script's environment and returns its exit code.
func runWithEnvironment(ctx context.Context, client *jobclient.Client, args []string) int {
	var job protocol.JobAnswer
	conn, err := client.SendToLauncher(ctx, protocol.Request{Job: true})
	if err == nil {
		err = conn.ReceiveAnswer(&job, nil)
		_ = conn.Close()
	}
	if err != nil {
		return cmdutil.ReportError("vc-step", err)
	}
	terminal := cmp.Or(os.Getenv("TERM"), "xterm")
	os.Clearenv()
	_ = os.Setenv("TERM", terminal)
	for _, entry := range job.Script {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value)
	}
	if wanted := cmp.Or(job.Spec.WorkDir, job.Spec.SubmitDir); job.Spec.WorkDir == "" || os.Chdir(job.Spec.WorkDir) != nil {
		_ = os.Chdir("/")
		if wanted != "" && wanted != "/" {
			fmt.Fprintf(os.Stderr, "slurmstepd: error: couldn't chdir to `%s': not on a volume of this pod: going to / instead\n", wanted)
		}
	}
	if len(args) > 0 && args[0] == "srun" {
		return srun.Run(ctx, args[1:])
	}
	if len(args) == 0 {
		args = []string{findShell()}
	}
	program, err := process.LookPath(args[0], ".", job.Script)
	if err != nil {
		fmt.Fprintf(os.Stderr, "salloc: error: Unable to exec command %q\n", args[0])
		return process.CodeNotFound
	}
	command := exec.CommandContext(ctx, program, args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	return process.EndingOf(command.ProcessState, err).ShellStatus()
}

// findShell returns the path of a shell in the container.
func findShell() string {
	for _, path := range []string{os.Getenv("SHELL"), "/bin/bash"} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return "/bin/sh"
}
