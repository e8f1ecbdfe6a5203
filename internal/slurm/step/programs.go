package step

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/launcher"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/srun"
)

// commands maps the names of commands to functions that run the commands and return the exit code.
var commands = map[string]func(context.Context, []string) int{
	"launch": launcher.Run, "session": RunSession, "enter": RunInEnvironment, "signal": withErrorReport(podcommands.RunSignal),
	"notify": withErrorReport(podcommands.RunNotify), "limit": withErrorReport(podcommands.RunLimit), "install": withErrorReport(InstallPrograms),
	"srun": srun.Run, launchconfig.RshName: srun.RunRsh, "scontrol": podcommands.RunScontrol, "squeue": podcommands.RunSqueue,
	"scancel": podcommands.RunScancel, "sbcast": podcommands.RunSbcast, "sgather": podcommands.RunSgather, "sattach": podcommands.RunSattach,
}

// withErrorReport returns a function that calls run, prints its error, and returns the exit code.
func withErrorReport(run func(context.Context, []string) error) func(context.Context, []string) int {
	return func(ctx context.Context, args []string) int {
		return cmdutil.ReportError("vc-step", run(ctx, args))
	}
}

// Main runs the command with the name under which the program was called. If that name is vc-step, it runs the command
// that the first argument names. It returns the exit code.
func Main(ctx context.Context, args []string) int {
	name := filepath.Base(args[0])
	rest := args[1:]
	if name == process.StarterName && len(rest) > 1 {
		return process.RunStarter(rest)
	}
	if name == "vc-step" {
		if len(rest) == 0 {
			fmt.Fprintln(os.Stderr, "vc-step: error: this program runs only inside the pods of batch jobs; sbatch starts it")
			return 1
		}
		name, rest = rest[0], rest[1:]
	}
	if slices.Contains(podcommands.ClusterCommands, name) {
		return podcommands.RunClusterCommand(ctx, name, rest)
	}
	if run := commands[name]; run != nil {
		return run(ctx, rest)
	}
	fmt.Fprintf(os.Stderr, "vc-step: error: unknown command %q; known commands: launch, session, enter, signal, notify, limit, install, %s\n", name, strings.Join(CommandNames, ", "))
	return 1
}

// CommandNames lists the commands that a script can call. They are installed as links to this program.
var CommandNames = append([]string{"srun", "scontrol", "squeue", "scancel", "sbcast", "sgather", "sattach", launchconfig.RshName}, podcommands.ClusterCommands...)

// InstallPrograms copies this program to a directory and creates a link to it for each command.
func InstallPrograms(_ context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("install requires exactly one directory")
	}
	directory := args[0]
	if d := jobclient.NewDirectories(os.Getenv); d.ProgramDirectory() != "" && os.Getenv(jobclient.EnvVolumes) != "" {
		directory = d.ProgramDirectory()
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	target := filepath.Join(directory, "vc-step")
	if err := copyFile(own, target); err != nil {
		return err
	}
	for _, name := range CommandNames {
		link := filepath.Join(directory, name)
		_ = os.Remove(link)
		if err := os.Symlink("vc-step", link); err != nil {
			return err
		}
	}
	// The job's container, which may run as any user, writes its runtime files to this directory.
	run := filepath.Join(filepath.Dir(directory), "run")
	if err := os.MkdirAll(run, 0o777); err != nil {
		return err
	}
	return os.Chmod(run, 0o777)
}

// copyFile copies a program. It first writes a temporary file, so that an incomplete copy is never run.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
