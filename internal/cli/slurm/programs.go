package slurm

import (
	"slices"

	"github.com/vc-batch/vc/internal/cli/slurm/accounts"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/cli/slurm/control"
	"github.com/vc-batch/vc/internal/cli/slurm/listing"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/cli/slurm/submit"
)

// programs lists Slurm's commands.
var programs = []program.Program{
	submit.Sbatch, submit.Srun, submit.Salloc, listing.Squeue, control.Scancel, listing.Sacct, listing.Sinfo, control.Scontrol, listing.Sprio, listing.Sshare,
	attach.Sattach, attach.Sbcast, attach.Sgather, submit.Scrontab, listing.Sdiag, control.Strigger, listing.Seff, listing.Sstat, listing.Sreport, accounts.Sacctmgr,
}

// Programs lists the names of the Slurm commands under which this binary can be run.
var Programs = programNames()

func programNames() []string {
	var names []string
	for _, p := range programs {
		names = append(names, p.Table.Program)
	}
	return names
}

// IsProgram reports whether a program name is the name of one of Slurm's commands.
func IsProgram(program string) bool { return slices.Contains(Programs, program) }
