package submit

import (
	"context"
	"fmt"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/request"
)

var sbatchTable = request.OptionTable(request.Sbatch, "SCRIPT [ARGS...]")

// Sbatch submits batch scripts.
var Sbatch = program.Program{Table: sbatchTable, Run: runSbatch,
	Short: "Submit a batch script",
	Long: `
		Submit a script. The script runs once, on the first node of the job; srun in the
		script starts tasks on all nodes. Options are read from lines of the script that
		begin with #SBATCH, from SBATCH_… variables and from the command line; later
		sources take precedence. If no script is specified, the script is read from
		standard input.

		Each Slurm node is a pod: -N4 means four pods on four nodes. Use 'vcctl slurm
		translate' to see the effect of each option. The site's settings, such as image,
		volumes and partitions, are in the ConfigMap slurm-profile.`,
	Example: `
		# A script and a command line
		vcctl slurm sbatch run.sh
		vcctl slurm sbatch --wrap='hostname; date'

		# Four nodes with eight tasks each, for at most two hours
		vcctl slurm sbatch -N4 --ntasks-per-node=8 -t 2:00:00 run.sh

		# An array of 100 tasks, ten at a time; then a job that depends on its success
		vcctl slurm sbatch --array=0-99%10 run.sh
		vcctl slurm sbatch -d afterok:1 run.sh

		# Estimate the start time of a job
		vcctl slurm sbatch --test-only -N2 run.sh`,
}

func runSbatch(ctx context.Context, c *program.Call) error {
	s, err := readBatch(ctx, c, c.Parsed.Operands)
	if err != nil {
		return err
	}
	s.submitter = c.Factory.FindPermittedUser(ctx, s.site.namespace, c.UserName())
	result, err := translateJob(c, s)
	if err != nil {
		return err
	}
	if s.request.TestOnly {
		printNotes(c, s, result, "")
		if s.request.Verbose > 0 {
			if err := writeExplained(c, result, c.Factory.Streams.Err); err != nil {
				return err
			}
		}
		return runTestOnly(ctx, c, s, result)
	}
	job, err := submitJob(ctx, c, result)
	if err != nil {
		return err
	}
	printNotes(c, s, result, listrow.NumberOrName(job))
	if err := printSubmitted(ctx, c, s, job); err != nil || !s.request.Wait {
		return err
	}
	return waitForEnd(ctx, c, job)
}

// printSubmitted prints the line with the job number, which programs parse. If the job has no number, it prints the
// name and a warning. Ctrl-C before the job has a number does not cancel the job.
func printSubmitted(ctx context.Context, c *program.Call, s *jobInput, job *batchv1alpha1.Job) error {
	id := listrow.NumberOrName(job)
	var interruption error
	switch {
	case id != job.Name:
	case ctx.Err() != nil:
		c.PrintNotef("warning", "the job was submitted but has no number yet; use the job name instead")
		interruption = cli.ExitStatus(program.Interrupted)
	default:
		c.PrintNotef("warning", "the job has no number after %s: this cluster does not assign job numbers, or vc's job controller is not running; use the job name instead", idPatience)
	}
	text := "Submitted batch job " + id
	switch {
	case s.request.Parsable && s.request.Clusters != "":
		text = id + ";" + s.request.Clusters
	case s.request.Parsable:
		text = id
	case s.request.Quiet:
		return interruption
	case s.request.Clusters != "":
		text += " on cluster " + s.request.Clusters
	}
	if _, err := fmt.Fprintln(c.Factory.Streams.Out, text); err != nil {
		return err
	}
	return interruption
}
