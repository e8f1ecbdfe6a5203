package srunoptions

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/getopt/noeffect"
)

// Groups of options in the help text.
const (
	groupSize   = "Size of the step"
	groupStream = "Input and output"
	groupRun    = "Execution"
	groupNone   = "Accepted, but has no effect in a step"
)

// Table lists the options of srun inside a job. Outside of jobs, srun also has the options of package request. An
// option in both tables describes the allocation outside of jobs and the step inside a job. An option with StepOnly
// always describes the step, and its environment variables set it. The variables of other options have no effect in a
// step, for example because only the job or options determine the size of a step.
//
// The tables share the options of package noeffect. Their other options are separate, because most of them have another
// text or value for a step, and because package request imports the API, which would make vc-step large.
var Table = *(&getopt.Table{
	Program: "srun", Operands: "COMMAND [ARGS...]", Stop: true,
	Options: []getopt.Option{
		{Long: "nodes", Short: 'N', Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Number of nodes", Variables: []string{"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}},
		{Long: "ntasks", Short: 'n', Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Number of tasks", Variables: []string{"SLURM_NTASKS", "SLURM_NPROCS"}},
		{Long: "ntasks-per-node", Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Tasks per node", Variables: []string{"SLURM_NTASKS_PER_NODE"}},
		{Long: "cpus-per-task", Short: 'c', Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Processors per task"},
		{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "HOSTS", Group: groupSize, Help: "Use only these nodes of the job"},
		{Long: "exclude", Short: 'x', Arg: getopt.Required, Value: "HOSTS", Group: groupSize, Help: "Do not use these nodes"},
		{Long: "relative", StepOnly: true, Short: 'r', Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Number of the first node to use, from 0"},
		{Long: "overlap", StepOnly: true, Group: groupSize, Help: "Share processors with other steps", Variables: []string{"SLURM_OVERLAP"}},
		{Long: "exact", StepOnly: true, Group: groupSize, Help: "Use only the processors of the step's tasks (default)", Variables: []string{"SLURM_EXACT"}},
		{Long: "overcommit", StepOnly: true, Short: 'O', Group: groupSize, Help: "Allow more tasks than processors", Variables: []string{"SLURM_OVERCOMMIT"}},
		{Long: "immediate", Short: 'I', Arg: getopt.Optional, Value: "SECS", Group: groupSize, Help: "Fail immediately if no processors are free", Variables: []string{"SLURM_IMMEDIATE"}},
		{Long: "input", StepOnly: true, Short: 'i', Arg: getopt.Required, Value: "MODE", Group: groupStream, Help: "Input mode: all, none, a task number, or a file", Variables: []string{"SLURM_STDINMODE"}},
		{Long: "output", StepOnly: true, Short: 'o', Arg: getopt.Required, Value: "FILE", Group: groupStream, Help: "File for standard output; none discards the output", Variables: []string{"SLURM_STDOUTMODE"}},
		{Long: "error", StepOnly: true, Short: 'e', Arg: getopt.Required, Value: "FILE", Group: groupStream, Help: "File for standard error; none discards the output", Variables: []string{"SLURM_STDERRMODE"}},
		{Long: "open-mode", StepOnly: true, Arg: getopt.Required, Value: "MODE", Group: groupStream, Help: "Mode for existing output files: append or truncate", Variables: []string{"SLURM_OPEN_MODE"}},
		{Long: "label", StepOnly: true, Short: 'l', Group: groupStream, Help: "Print the task number before each line", Variables: []string{"SLURM_LABELIO"}},
		{Long: "unbuffered", StepOnly: true, Short: 'u', Group: groupStream, Help: "Do not buffer lines", Variables: []string{"SLURM_UNBUFFEREDIO"}},
		{Long: "pty", StepOnly: true, Arg: getopt.Optional, Value: "FILE", Group: groupStream, Help: "Run task 0 in a pseudo terminal"},
		{Long: "job-name", Short: 'J', Arg: getopt.Required, Value: "NAME", Group: groupRun, Help: "Name of the step"},
		{Long: "chdir", Short: 'D', Arg: getopt.Required, Value: "DIR", Group: groupRun, Help: "Working directory of the tasks", Variables: []string{"SLURM_WORKING_DIR", "SLURM_REMOTE_CWD"}},
		{Long: "export", Arg: getopt.Required, Value: "VARS", Group: groupRun, Help: "Environment variables to export: ALL, NONE, or names", Variables: []string{"SLURM_EXPORT_ENV"}},
		{Long: "kill-on-bad-exit", StepOnly: true, Short: 'K', Arg: getopt.Optional, Value: "0|1", Group: groupRun, Help: "End the step if a task fails", Variables: []string{"SLURM_KILL_BAD_EXIT"}},
		{Long: "wait", StepOnly: true, Short: 'W', Arg: getopt.Required, Value: "SECS", Group: groupRun, Help: "End the step this many seconds after its first task ends", Variables: []string{"SLURM_WAIT"}},
		{Long: "time", Short: 't', Arg: getopt.Required, Value: "TIME", Group: groupRun, Help: "End the step after this time", Variables: []string{"SLURM_TIMELIMIT"}},
		{Long: "signal", Arg: getopt.Required, Value: "SIG@SECS", Group: groupRun, Help: "Send a signal before the time limit", Variables: []string{"SLURM_SIGNAL"}},
		{Long: "multi-prog", StepOnly: true, Group: groupRun, Help: "Read the program of each task from the specified file"},
		{Long: "mpi", Arg: getopt.Required, Value: "TYPE", Group: groupRun, Help: "MPI type: none; list prints all types", Variables: []string{"SLURM_MPI_TYPE"}},
		{Long: "jobid", StepOnly: true, Arg: getopt.Required, Value: "ID", Group: groupRun, Help: "Job number; inside a job, only the number of this job"},
		{Long: "quiet", Short: 'Q', Group: groupRun, Help: "Print less"},
		{Long: "verbose", Short: 'v', Group: groupRun, Help: "Print more"},
		{Long: "het-group", StepOnly: true, Arg: getopt.Required, Value: "EXPR", Hidden: true},
		{Long: "pack-group", Arg: getopt.Required, Value: "EXPR", Hidden: true},
		{Long: "no-allocate", Short: 'Z', Hidden: true},
		{Long: "exclusive", Arg: getopt.Optional, Value: "user", Group: groupNone, Help: "Steps share processors only with --overlap"},
		{Long: "gpus", Short: 'G', Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Total number of accelerators", Variables: []string{"SLURM_GPUS"}},
		{Long: "gpus-per-task", Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Accelerators per task", Variables: []string{"SLURM_GPUS_PER_TASK"}},
		{Long: "gpus-per-node", Arg: getopt.Required, Value: "N", Group: groupSize, Help: "Accelerators per node", Variables: []string{"SLURM_GPUS_PER_NODE"}},
		{Long: "gres", Arg: getopt.Required, Value: "LIST", Group: groupSize, Help: "Generic resources; gpu:n means --gpus-per-node=n", Variables: []string{"SLURM_GRES"}},
		{Long: "mem", Arg: getopt.Required, Value: "SIZE", Group: groupNone, Help: "All steps share the pod's memory"},
		{Long: "mem-per-cpu", Arg: getopt.Required, Value: "SIZE", Group: groupNone},
		{Long: "mem-per-gpu", Arg: getopt.Required, Value: "SIZE", Group: groupNone},
		{Long: "cpu_bind", Arg: getopt.Required, Value: "TYPE", Hidden: true, Alias: "cpu-bind"},
		{Long: "mem_bind", Arg: getopt.Required, Value: "TYPE", Hidden: true, Alias: "mem-bind"},
		{Long: "tasks-per-node", Arg: getopt.Required, Value: "N", Hidden: true, Alias: "ntasks-per-node"},
		{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "NAME", Group: groupNone, Help: "A step runs in the partition of its job"},
		{Long: "account", Short: 'A', Arg: getopt.Required, Value: "NAME", Group: groupNone},
		{Long: "no-kill", Short: 'k', Arg: getopt.Optional, Value: "off", Group: groupNone},
	},
}).WithMissing(ignoredOptions()...)

// ignoredOptions returns the options that are ignored inside and outside of jobs.
func ignoredOptions() []getopt.Option {
	all := slices.Concat(noeffect.Common, noeffect.Srun)
	for i := range all {
		all[i].Group = groupNone
	}
	return all
}

// fine maps options without effect to the values for which steps behave as requested anyway.
var fine = map[string][]string{
	"exclusive": {""}, "cpu-bind": {"none", "no", "q", "quiet", "v", "verbose"}, "gpu-bind": {"none", "verbose"}, "mem-bind": {"none", "no", "q", "quiet", "v", "verbose"},
	"mem": {"0"}, "distribution": {"block", "*", "block:*"}, "export": {"ALL"},
	"wait-all-nodes": {"1"}, "oom-kill-step": {"1"},
}
