package step

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/cmdutil"
	"github.com/vc-batch/vc/internal/slurm/step/launcher"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/internal/slurm/step/srun"
)

// Main runs the command with the name under which the program was called or, if that is vc-step, the command named by
// the first argument. It returns the exit code.
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
	switch name {
	case "srun":
		return srun.Run(ctx, rest)
	case "scontrol":
		return podcommands.RunScontrol(ctx, rest)
	case "squeue":
		return podcommands.RunSqueue(ctx, rest)
	case "scancel":
		return podcommands.RunScancel(ctx, rest)
	case "sbcast":
		return podcommands.RunSbcast(ctx, rest)
	case "sgather":
		return podcommands.RunSgather(ctx, rest)
	case "sattach":
		return podcommands.RunSattach(ctx, rest)
	case launchconfig.RshName:
		return srun.RunRsh(ctx, rest)
	case "launch":
		return launcher.Run(ctx)
	case "session":
		return RunSession(ctx, rest)
	case "enter":
		return RunInEnvironment(ctx, rest)
	case "signal":
		return podcommands.RunSignal(ctx, rest)
	case "notify":
		return podcommands.RunNotify(ctx, rest)
	case "limit":
		return podcommands.RunLimit(ctx, rest)
	case "install":
		return cmdutil.ReportError("vc-step", InstallPrograms(rest))
	}
	fmt.Fprintf(os.Stderr, "vc-step: error: unknown command %q: the commands are launch, session, enter, signal, notify, limit, install, %s\n", name, strings.Join(CommandNames, ", "))
	return 1
}
