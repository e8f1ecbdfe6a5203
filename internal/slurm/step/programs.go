package step

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Main runs the command with the name under which the program was called or, if that is vc-step, the command named by
// the first argument. It returns the exit code.
func Main(ctx context.Context, args []string) int {
	name := filepath.Base(args[0])
	rest := args[1:]
	if name == taskName && len(rest) > 1 {
		return becomeTask(rest)
	}
	if name == "vc-step" {
		if len(rest) == 0 {
			fmt.Fprintln(os.Stderr, "vc-step: error: this program runs only inside the pods of batch jobs; sbatch starts it")
			return 1
		}
		name, rest = rest[0], rest[1:]
	}
	if slices.Contains(clusterCommands, name) {
		return BecomeOutsideCommand(ctx, name, rest)
	}
	switch name {
	case "srun":
		return RunSrun(ctx, rest)
	case "scontrol":
		return RunScontrol(ctx, rest)
	case "squeue":
		return RunSqueue(ctx, rest)
	case "scancel":
		return RunScancel(ctx, rest)
	case "sbcast":
		return RunSbcast(ctx, rest)
	case "sgather":
		return RunSgather(ctx, rest)
	case "sattach":
		return RunSattach(ctx, rest)
	case launchconfig.RshName:
		return RunRsh(ctx, rest)
	case "launch":
		return RunLauncher(ctx)
	case "session":
		return RunSession(ctx, rest)
	case "enter":
		return RunInEnvironment(ctx, rest)
	case "signal":
		return RunSignal(ctx, rest)
	case "notify":
		return RunNotify(ctx, rest)
	case "limit":
		return RunLimit(ctx, rest)
	case "install":
		return reportError("vc-step", InstallPrograms(rest))
	}
	fmt.Fprintf(os.Stderr, "vc-step: error: unknown command %q: the commands are launch, session, enter, signal, notify, limit, install, %s\n", name, strings.Join(names, ", "))
	return 1
}
