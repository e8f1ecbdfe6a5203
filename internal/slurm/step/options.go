package step

import "github.com/vc-batch/vc/internal/slurm/getopt"

// Groups of options in the help text.
const (
	groupSize   = "How large the step is"
	groupStream = "Input and output"
	groupRun    = "How it runs"
	groupNone   = "Accepted without effect in a step"
)

// SrunTable lists the options of srun inside a job.
var SrunTable = getopt.Table{
	Program: "srun", Operands: "program [arguments...]", Stop: true,
	Options: []getopt.Option{
		{Long: "nodes", Short: 'N', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "nodes of the step"},
		{Long: "ntasks", Short: 'n', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "tasks of the step"},
		{Long: "ntasks-per-node", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "tasks on each node"},
		{Long: "cpus-per-task", Short: 'c', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "processors of each task"},
		{Long: "nodelist", Short: 'w', Arg: getopt.Required, Value: "hosts", Group: groupSize, Help: "these nodes of the job only"},
		{Long: "exclude", Short: 'x', Arg: getopt.Required, Value: "hosts", Group: groupSize, Help: "none of these nodes"},
		{Long: "relative", Short: 'r', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "begin with this node of the job"},
		{Long: "overlap", Group: groupSize, Help: "share processors with other steps"},
		{Long: "exact", Group: groupSize, Help: "take the processors of the step's tasks only, which is what every step does"},
		{Long: "overcommit", Short: 'O', Group: groupSize, Help: "more tasks than processors"},
		{Long: "immediate", Short: 'I', Arg: getopt.Optional, Value: "secs", Group: groupSize, Help: "do not wait for processors"},
		{Long: "input", Short: 'i', Arg: getopt.Required, Value: "mode", Group: groupStream, Help: "all, none, a task's number, or a file"},
		{Long: "output", Short: 'o', Arg: getopt.Required, Value: "file", Group: groupStream, Help: "file of the output; none drops it"},
		{Long: "error", Short: 'e', Arg: getopt.Required, Value: "file", Group: groupStream, Help: "file of the error output; none drops it"},
		{Long: "open-mode", Arg: getopt.Required, Value: "mode", Group: groupStream, Help: "append or truncate"},
		{Long: "label", Short: 'l', Group: groupStream, Help: "the task's number before each line"},
		{Long: "unbuffered", Short: 'u', Group: groupStream, Help: "do not wait for whole lines"},
		{Long: "pty", Arg: getopt.Optional, Value: "file", Group: groupStream, Help: "task 0 on a terminal"},
		{Long: "job-name", Short: 'J', Arg: getopt.Required, Value: "name", Group: groupRun, Help: "name of the step"},
		{Long: "chdir", Short: 'D', Arg: getopt.Required, Value: "dir", Group: groupRun, Help: "directory of the tasks"},
		{Long: "export", Arg: getopt.Required, Value: "vars", Group: groupRun, Help: "ALL, NONE, or variables"},
		{Long: "kill-on-bad-exit", Short: 'K', Arg: getopt.Optional, Value: "0|1", Group: groupRun, Help: "end the step when a task fails"},
		{Long: "wait", Short: 'W', Arg: getopt.Required, Value: "secs", Group: groupRun, Help: "end the step so long after its first task has ended"},
		{Long: "time", Short: 't', Arg: getopt.Required, Value: "time", Group: groupRun, Help: "end the step after this time"},
		{Long: "signal", Arg: getopt.Required, Value: "sig@secs", Group: groupRun, Help: "send a signal before that"},
		{Long: "multi-prog", Group: groupRun, Help: "the program is a file that says which task runs what"},
		{Long: "mpi", Arg: getopt.Required, Value: "type", Group: groupRun, Help: "none, or list"},
		{Long: "jobid", Arg: getopt.Required, Value: "id", Group: groupRun, Help: "the job; this one is the only one from here"},
		{Long: "quiet", Short: 'Q', Group: groupRun, Help: "say less"},
		{Long: "verbose", Short: 'v', Group: groupRun, Help: "say more"},
		{Long: "version", Short: 'V', Group: groupRun, Help: "the version"},
		{Long: "help", Short: 'h', Group: groupRun, Help: "this text"},
		{Long: "usage", Group: groupRun, Help: "the options in short"},
		{Long: "het-group", Arg: getopt.Required, Value: "expr", Hidden: true},
		{Long: "pack-group", Arg: getopt.Required, Value: "expr", Hidden: true},
		{Long: "no-allocate", Short: 'Z', Hidden: true},
		{Long: "exclusive", Arg: getopt.Optional, Value: "user", Group: groupNone, Help: "every step has its processors to itself"},
		{Long: "gpus", Short: 'G', Arg: getopt.Required, Value: "n", Group: groupSize, Help: "accelerators of the step"},
		{Long: "gpus-per-task", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "accelerators of each task"},
		{Long: "gpus-per-node", Arg: getopt.Required, Value: "n", Group: groupSize, Help: "accelerators of the step on each node"},
		{Long: "gres", Arg: getopt.Required, Value: "list", Group: groupSize, Help: "gpu:n is --gpus-per-node=n"},
		{Long: "gpu-bind", Arg: getopt.Required, Value: "type", Group: groupNone},
		{Long: "mem", Arg: getopt.Required, Value: "size", Group: groupNone, Help: "the pod's memory is shared"},
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
		{Long: "partition", Short: 'p', Arg: getopt.Required, Value: "name", Group: groupNone, Help: "a step is where its job is"},
		{Long: "account", Short: 'A', Arg: getopt.Required, Value: "name", Group: groupNone},
		{Long: "no-kill", Short: 'k', Arg: getopt.Optional, Value: "off", Group: groupNone},
		{Long: "acctg-freq", Arg: getopt.Required, Value: "spec", Group: groupNone},
		{Long: "profile", Arg: getopt.Required, Value: "spec", Group: groupNone},
		{Long: "propagate", Arg: getopt.Optional, Value: "limits", Group: groupNone},
	},
}
