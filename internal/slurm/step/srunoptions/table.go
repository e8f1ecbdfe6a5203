package srunoptions

import "github.com/vc-batch/vc/internal/slurm/getopt"

// Groups of options in the help text.
const (
	groupSize   = "Size of the step"
	groupStream = "Input and output"
	groupRun    = "Execution"
	groupNone   = "Accepted, but has no effect in a step"
)

// Table lists the options of srun inside a job. Outside of jobs, srun also has the options of package request. An
// option in both tables describes the allocation outside of jobs and the step inside a job. An option with StepOnly
// always describes the step.
var Table = getopt.Table{
	Program: "srun", Operands: "program [arguments...]", Stop: true,
	Options: []getopt.Option{
		{Long: "nodes", Short: 'N', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "number of nodes"},
		{Long: "ntasks", Short: 'n', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "number of tasks"},
		{Long: "ntasks-per-node", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "tasks per node"},
		{Long: "cpus-per-task", Short: 'c', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "processors per task"},
		{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "hosts", Group: groupSize, Help: "use only these nodes of the job"},
		{Long: "exclude", Short: 'x', Arg: getopt.Required, Value: "hosts", Group: groupSize, Help: "do not use these nodes"},
		{Long: "relative", StepOnly: true, Short: 'r', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "number of the first node to use, from 0"},
		{Long: "overlap", StepOnly: true, Group: groupSize, Help: "share processors with other steps"},
		{Long: "exact", StepOnly: true, Group: groupSize, Help: "use only the processors of the step's tasks (default)"},
		{Long: "overcommit", StepOnly: true, Short: 'O', Group: groupSize, Help: "allow more tasks than processors"},
		{Long: "immediate", Short: 'I', Arg: getopt.Optional, Value: "secs", Group: groupSize, Help: "fail immediately if no processors are free"},
		{Long: "input", StepOnly: true, Short: 'i', Arg: getopt.Required, Value: "mode", Group: groupStream, Help: "input mode: all, none, a task number, or a file"},
		{Long: "output", StepOnly: true, Short: 'o', Arg: getopt.Required, Value: "file", Group: groupStream, Help: "file for standard output; none discards the output"},
		{Long: "error", StepOnly: true, Short: 'e', Arg: getopt.Required, Value: "file", Group: groupStream, Help: "file for standard error; none discards the output"},
		{Long: "open-mode", StepOnly: true, Arg: getopt.Required, Value: "mode", Group: groupStream, Help: "mode for existing output files: append or truncate"},
		{Long: "label", StepOnly: true, Short: 'l', Group: groupStream, Help: "print the task number before each line"},
		{Long: "unbuffered", StepOnly: true, Short: 'u', Group: groupStream, Help: "do not buffer lines"},
		{Long: "pty", StepOnly: true, Arg: getopt.Optional, Value: "file", Group: groupStream, Help: "run task 0 in a pseudo terminal"},
		{Long: "job-name", Short: 'J', Arg: getopt.Required, Value: "name", Group: groupRun, Help: "name of the step"},
		{Long: "chdir", Short: 'D', Arg: getopt.Required, Value: "dir", Group: groupRun, Help: "working directory of the tasks"},
		{Long: "export", Arg: getopt.Required, Value: "vars", Group: groupRun, Help: "environment variables to export: ALL, NONE, or names"},
		{Long: "kill-on-bad-exit", StepOnly: true, Short: 'K', Arg: getopt.Optional, Value: "0|1", Group: groupRun, Help: "end the step if a task fails"},
		{Long: "wait", StepOnly: true, Short: 'W', Arg: getopt.Required, Value: "secs", Group: groupRun, Help: "end the step this many seconds after its first task ends"},
		{Long: "time", Short: 't', Arg: getopt.Required, Value: "time", Group: groupRun, Help: "end the step after this time"},
		{Long: "signal", Arg: getopt.Required, Value: "sig@secs", Group: groupRun, Help: "send a signal before the time limit"},
		{Long: "multi-prog", StepOnly: true, Group: groupRun, Help: "read the program of each task from the specified file"},
		{Long: "mpi", Arg: getopt.Required, Value: "type", Group: groupRun, Help: "MPI type: none; list prints all types"},
		{Long: "jobid", StepOnly: true, Arg: getopt.Required, Value: "id", Group: groupRun, Help: "job number; inside a job, only the number of this job"},
		{Long: "quiet", Short: 'Q', Group: groupRun, Help: "print less"},
		{Long: "verbose", Short: 'v', Group: groupRun, Help: "print more"},
		{Long: "het-group", StepOnly: true, Arg: getopt.Required, Value: "expr", Hidden: true},
		{Long: "pack-group", Arg: getopt.Required, Value: "expr", Hidden: true},
		{Long: "no-allocate", Short: 'Z', Hidden: true},
		{Long: "exclusive", Arg: getopt.Optional, Value: "user", Group: groupNone, Help: "steps share processors only with --overlap"},
		{Long: "gpus", Short: 'G', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "total number of accelerators"},
		{Long: "gpus-per-task", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "accelerators per task"},
		{Long: "gpus-per-node", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "accelerators per node"},
		{Long: "gres", Arg: getopt.Required, Value: "list", Group: groupSize, Help: "generic resources; gpu:n means --gpus-per-node=n"},
		{Long: "gpu-bind", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "mem", Arg: getopt.Required, Value: "size", Group: groupNone, Help: "all steps share the pod's memory"},
		{Long: "mem-per-cpu", Arg: getopt.Required, Value: "size", Group: groupNone},
		{Long: "mem-per-gpu", Arg: getopt.Required, Value: "size", Group: groupNone},
		{Long: "mem-bind", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "cpu-bind", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "accel-bind", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "cpu_bind", Arg: getopt.Required, Value: "type", Hidden: true, Alias: "cpu-bind"},
		{Long: "mem_bind", Arg: getopt.Required, Value: "type", Hidden: true, Alias: "mem-bind"},
		{Long: "tasks-per-node", Arg: getopt.Required, Value: "n", Hidden: true, Alias: "ntasks-per-node"},
		{Long: "cpu-freq", Arg: getopt.Required, Value: "freq", Group: groupNone},
		{Long: "distribution", Short: 'm', Arg: getopt.Required, Value: "how", Group: groupNone},
		{Long: "hint", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "threads-per-core", Arg: getopt.Required, Value: "n", Group: groupNone},
		{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "name", Group: groupNone, Help: "a step runs in the partition of its job"},
		{Long: "account", Short: 'A', Arg: getopt.Required, Value: "name", Group: groupNone},
		{Long: "no-kill", Short: 'k', Arg: getopt.Optional, Value: "off", Group: groupNone},
		{Long: "acctg-freq", Arg: getopt.Required, Value: "spec", Group: groupNone},
		{Long: "profile", Arg: getopt.Required, Value: "spec", Group: groupNone},
		{Long: "propagate", Arg: getopt.Optional, Value: "limits", Group: groupNone},
	},
}

// fine maps options without effect to the values for which steps behave as requested anyway.
var fine = map[string][]string{
	"exclusive": {""}, "cpu-bind": {"none", "no", "q", "quiet", "v", "verbose"}, "gpu-bind": {"none", "verbose"}, "mem-bind": {"none", "no", "q", "quiet", "v", "verbose"},
	"mem": {"0"}, "distribution": {"block", "*", "block:*"}, "export": {"ALL"},
}
