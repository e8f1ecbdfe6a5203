package slurm

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

var striggerTable = getopt.Table{Program: "strigger", Options: []getopt.Option{
	{Long: "set", Help: "Refused: nothing here runs programs of users when something happens"},
	{Long: "get", Help: "Refused: there are no triggers"},
	{Long: "clear", Help: "Refused: there are no triggers"},
	{Long: "jobid", Short: 'j', Arg: getopt.Required, Value: "JOB", Help: "Of a job"},
	{Long: "fini", Short: 'f', Help: "When the job ends: use sbatch --dependency"},
	{Long: "time", Short: 't', Help: "Before its time limit: use sbatch --signal"},
	{Long: "node", Short: 'n', Arg: getopt.Optional, Value: "HOST", Help: "Of nodes: use vcctl node list --watch"},
	{Long: "down", Short: 'd', Help: "When a node goes down"},
	{Long: "up", Short: 'u', Help: "When a node comes back"},
	{Long: "idle", Short: 'i', Help: "When a node is idle"},
	{Long: "drained", Short: 'D', Help: "When a node is drained"},
	{Long: "fail", Short: 'F', Help: "When a node is about to fail"},
	{Long: "offset", Short: 'o', Arg: getopt.Required, Value: "SECONDS", Help: "So much later"},
	{Long: "program", Short: 'p', Arg: getopt.Required, Value: "PATH", Help: "The program to run"},
	{Long: "id", Arg: getopt.Required, Value: "N", Help: "Of a trigger"},
	{Long: "user", Arg: getopt.Required, Value: "USER", Help: "Of a user"},
	{Long: "flags", Arg: getopt.Required, Value: "WORD", Help: "PERM"},
	{Long: "noheader", Short: 'h', Help: "No titles"},
	{Long: "quiet", Short: 'Q', Help: "Say less"},
	{Long: "verbose", Short: 'v', Help: "Say more"},
}}

func newStrigger(f *cli.Factory) *cobra.Command {
	return command(f, program{table: &striggerTable, run: strigger,
		short: "Say what stands for triggers here",
		long: `
			There are no triggers: nothing in the cluster runs programs of users when a node or
			a job changes. For each kind of trigger, strigger says what to use in its place, and
			fails.`,
		example: `
			# What stands for a trigger at the end of a job
			vcctl slurm strigger --set --jobid=42 --fini --program=run.sh

			# What stands for one about nodes
			vcctl slurm strigger --set --node --down --program=run.sh`,
	})
}

func strigger(_ context.Context, c *call) error {
	return usererror.Errorf(c.inPlaceOfTrigger(), "triggers are not supported here")
}

// inPlaceOfTrigger returns a hint about an alternative to the requested trigger.
func (c *call) inPlaceOfTrigger() string {
	job, hasJob := c.parsed.Last("jobid")
	if !hasJob {
		job = "JOB"
	}
	switch {
	case c.parsed.Has("get"), c.parsed.Has("clear"):
		return "there are none to list or clear; scontrol show job " + job + " lists the dependencies of a job"
	case c.parsed.Has("time"):
		return "submit the job with --signal=B:USR1@SECONDS; its script gets the signal so long before the time limit"
	case c.parsed.Has("fini"), hasJob:
		return "sbatch --dependency=afterany:" + job + " SCRIPT runs a script when the job has ended"
	}
	return "vcctl node list --watch prints each change of a node; a program can read it"
}
