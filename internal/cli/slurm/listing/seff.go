package listing

import (
	"context"
	"errors"
	"io"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/seff"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

var seffTable = getopt.Table{Program: "seff", Options: []getopt.Option{
	{Long: "clusters", Short: 'M', Arg: getopt.Required, Value: "LIST", Help: "Clusters to query: contexts of the kubeconfig", Group: program.FilterGroup},
}}

// Seff compares what a job used with what it requested.
var Seff = program.Program{Table: &seffTable, Run: runSeff,
	Short: "Show how much of its requested CPUs and memory a job used",
	Long: `
		For a job that has ended, show the CPU time and the memory that it used, and how much
		of the requested CPUs and memory this is. Usage is measured for jobs that Slurm's
		commands submitted, for all jobs on the nodes of vc-local and, if the cluster has
		vc-accounting, for jobs that run on kubelets for at least half a minute. For other
		jobs, it is zero. The usage of GPUs is shown if vc-accounting measured it.`,
	Example: `
		# A job, and an element of an array
		vcctl slurm seff 42
		vcctl slurm seff 43_7`,
}

func runSeff(ctx context.Context, c *program.Call) error {
	if len(c.Parsed.Operands) != 1 {
		return usererror.Errorf("for example: seff 42", "specify one job")
	}
	refs, err := program.ParseJobWords(c.Parsed.Operands)
	if err != nil {
		return err
	}
	return c.InClustersParallel("\n", func(one *program.Call, _ bool) error {
		read, err := clusterdata.ReadView(ctx, one, clusterdata.Wants{Named: refs, Pods: true, Ended: true})
		if err != nil {
			return err
		}
		for _, query := range historyQueries(accounting.Query{LatestOnly: true}, refs) {
			if err := addRecordedJobs(ctx, one, read, query); err != nil && !errors.Is(err, clusterdata.ErrNoHistory) {
				return err
			}
		}
		var found *listrow.Row
		for _, row := range clusterdata.JobRows(one, read, true) {
			if row.MatchesReference(refs[0]) {
				found = row
				break
			}
		}
		if found == nil {
			return program.MissingJobError("sacct lists the jobs that exist or were recorded", "%s: Invalid job id specified", refs[0])
		}
		line := sacct.LinesOf(found, true)[0]
		if line.Code == state.Running {
			one.PrintNotef("warning", "the job is running, so its efficiency will change")
		}
		if isMeasured := line.Usage.CPUMillis > 0 || line.Usage.MaxRSS > 0; !isMeasured {
			one.PrintNotef("note", "the usage of CPUs and memory was not measured")
		}
		if gpus := seff.GPUTimeOf(&line); gpus.HasGaps() {
			one.PrintNotef("note", "the GPUs were measured for only %s of %s; their actual usage may be higher than shown", state.LongClock(gpus.Measured), state.LongClock(gpus.Available))
		}
		_, err = io.WriteString(one.Factory.Streams.Out, seff.Format(&line))
		return err
	})
}
