package attach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
	"github.com/vc-batch/vc/internal/usererror"
)

// Sbcast copies a file to the nodes of a job.
var Sbcast = program.Program{Table: &podcommands.SbcastTable, Run: runSbcast,
	Short: "Copy a file to all nodes of a job",
	Long: `
		Copy a file from this machine to each node of a running job, keeping its
		permissions.
		Inside a job, sbcast copies a file from the node where it runs. A DESTINATION
		that ends in / is a directory. Choose a destination on the nodes' local
		disks: on a shared file system, one copy is enough.`,
	Example: `
		# Copy a file to all nodes of a job
		vcctl slurm sbcast --jobid=42 run.sh /tmp/run.sh

		# Replace existing files
		vcctl slurm sbcast -f -j 42 run.sh /tmp/`,
}

func runSbcast(ctx context.Context, c *program.Call) error {
	if len(c.Parsed.Operands) != 2 {
		return podcommands.FileNamesError(c.Parsed.Operands)
	}
	id, given := c.Parsed.LastValue("jobid")
	if !given {
		return usererror.Errorf("specify --jobid=JOB; the option can be omitted inside a job", "Need a job id to run this command.")
	}
	file, info, err := podcommands.OpenRegular(c.Parsed.Operands[0])
	if err != nil {
		return err
	}
	defer file.Close()
	to, err := filepath.Abs(c.Parsed.Operands[1])
	if err != nil {
		return err
	}
	if strings.HasSuffix(c.Parsed.Operands[1], "/") {
		to = filepath.Join(to, filepath.Base(file.Name()))
	}
	job, number, hasStep := strings.Cut(id, ".")
	a, err := FindRunningAllocation(ctx, c, job, "Unable to copy to job "+job)
	if err != nil {
		return err
	}
	inPod := a.JobIDInPod()
	if hasStep {
		inPod += "." + number
	}
	command := []string{launchconfig.Program, c.Table.Program, "--jobid=" + inPod, "--from-stdin", fmt.Sprintf("--stdin-mode=%o", info.Mode().Perm())}
	if podcommands.IsSwitchedOn(c.Parsed, "preserve", "SBCAST_PRESERVE", c.Factory.Streams.Env) {
		command = append(command, "--stdin-time="+strconv.FormatInt(info.ModTime().UnixNano(), 10))
	}
	if podcommands.IsSwitchedOn(c.Parsed, "force", "SBCAST_FORCE", c.Factory.Streams.Env) {
		command = append(command, "--force")
	}
	if c.Parsed.Has("verbose") {
		command = append(command, "--verbose")
	}
	return a.copyToHeadPod(ctx, append(command, filepath.Base(file.Name()), to), file)
}

// copyToHeadPod runs a command in the head pod with a file as its standard input.
func (a *Allocation) copyToHeadPod(ctx context.Context, command []string, file *os.File) error {
	streams := StandardStreams(a.Call)
	streams.Stdin = file
	code, err := a.ExecInHead(ctx, Session{Command: command, Streams: streams})
	if err != nil {
		return err
	}
	return ExitStatus(code)
}

// Sgather returns an error, because files can be gathered only inside jobs.
var Sgather = program.Program{Table: &podcommands.SgatherTable, Run: runSgather,
	Short: "Copy a file or directory from all nodes (inside a job only)",
	Long: `
		Copy a file from each node of the job to the node where sgather runs, as
		DESTINATION.NODE, and remove the original unless you specify --keep. It works only
		inside jobs: in batch scripts and in programs started by srun or salloc. With
		-r, SOURCE can be a directory.`,
	Example: `
		# In a batch script: copy the results of all nodes
		vcctl slurm sgather -k /tmp/result.csv result.csv

		# Move them, and replace existing files
		vcctl slurm sgather -f /tmp/result.csv result.csv

		# Copy a directory from each node
		vcctl slurm sgather -rk /tmp/results results`,
}

func runSgather(context.Context, *program.Call) error {
	return usererror.Errorf("run it in the job: srun --jobid=JOB --overlap -N1 -n1 sgather SOURCE DESTINATION", "sgather works only inside a job")
}
