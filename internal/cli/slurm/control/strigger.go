package control

import (
	"context"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/usererror"
)

var striggerTable = getopt.Table{Program: "strigger", Options: []getopt.Option{
	{Long: "set", Help: "Not supported: events cannot run user programs"},
	{Long: "get", Help: "Not supported: triggers are not available"},
	{Long: "clear", Help: "Not supported: triggers are not available"},
	{Long: "jobid", Short: 'j', Arg: getopt.Required, Value: "JOB", Help: "Trigger for a job"},
	{Long: "fini", Short: 'f', Help: "When the job ends: use sbatch --dependency"},
	{Long: "time", Short: 't', Help: "Not supported; to act before the time limit, use sbatch --signal"},
	{Long: "node", Short: 'n', Arg: getopt.Optional, Value: "HOST", Help: "Trigger for nodes: use vcctl node list --watch"},
	{Long: "down", Short: 'd', Help: "When a node goes down"},
	{Long: "up", Short: 'u', Help: "When a node recovers"},
	{Long: "idle", Short: 'i', Help: "When a node becomes idle"},
	{Long: "drained", Short: 'D', Help: "When a node is drained"},
	{Long: "fail", Short: 'F', Help: "When a node is about to fail"},
	{Long: "offset", Short: 'o', Arg: getopt.Required, Value: "SECONDS", Help: "Delay after the event, in seconds"},
	{Long: "program", Short: 'p', Arg: getopt.Required, Value: "PATH", Help: "Program to run"},
	{Long: "id", Arg: getopt.Required, Value: "N", Help: "ID of a trigger"},
	{Long: "user", Arg: getopt.Required, Value: "USER", Help: "Triggers of a user"},
	{Long: "flags", Arg: getopt.Required, Value: "WORD", Help: "PERM"},
	{Long: "noheader", Short: 'h', Help: "Do not print the header"},
	{Long: "quiet", Short: 'Q', Help: "Print less"},
	{Long: "verbose", Short: 'v', Help: "Print more"},
}}

// Strigger reports that triggers are not supported, and prints alternatives.
var Strigger = program.Program{Table: &striggerTable, Run: runStrigger,
	Short: "Show alternatives to triggers",
	Long: `
		Triggers are not supported: the cluster cannot run a user's program when a node or
		a job changes. strigger prints an alternative to the trigger and exits with an error.`,
	Example: `
		# The alternative to a trigger at the end of a job
		vcctl slurm strigger --set --jobid=42 --fini --program=run.sh

		# The alternative to a trigger for nodes
		vcctl slurm strigger --set --node --down --program=run.sh`,
}

func runStrigger(_ context.Context, c *program.Call) error {
	return usererror.Errorf(triggerHint(c), "triggers are not supported")
}

// triggerHint returns a hint about an alternative to the requested trigger.
func triggerHint(c *program.Call) string {
	job, hasJob := c.Parsed.LastValue("jobid")
	if !hasJob {
		job = "JOB"
	}
	switch {
	case c.Parsed.Has("get"), c.Parsed.Has("clear"):
		return "triggers cannot be listed or cleared; scontrol show job " + job + " shows the dependencies of a job"
	case c.Parsed.Has("time"):
		return "submit the job with --signal=B:USR1@SECONDS; its script receives the signal SECONDS before the time limit"
	case c.Parsed.Has("fini"), hasJob:
		return "sbatch --dependency=afterany:" + job + " SCRIPT runs a script after the job has ended"
	}
	return "run a program that reads the output of vcctl node list --watch, which prints each change to a node"
}
