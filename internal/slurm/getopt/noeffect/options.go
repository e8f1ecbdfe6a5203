// Package noeffect lists the options of Slurm that commands accept without effect. The tables of sbatch, srun and salloc
// in package request contain them, and so does the table of srun inside jobs.
package noeffect

import (
	"slices"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// Common lists the options of sbatch, srun and salloc. Each has at most one environment variable. Variables contains the
// name of srun's variable.
var Common = []getopt.Option{
	{Long: "distribution", Short: 'm', Arg: getopt.Required, Value: "HOW", Help: "Distribution of tasks over nodes and sockets", Variables: []string{"SLURM_DISTRIBUTION"}},
	{Long: "extra-node-info", Short: 'B', Arg: getopt.Required, Value: "S[:C[:T]]", Help: "Sockets, cores and threads of nodes", Variables: []string{"SLURM_EXTRA_NODE_INFO"}},
	{Long: "hint", Arg: getopt.Required, Value: "HINT", Help: "Hint about the program's use of memory and threads", Variables: []string{"SLURM_HINT"}},
	{Long: "sockets-per-node", Arg: getopt.Required, Value: "N", Help: "Minimum sockets per node", Variables: []string{"SLURM_SOCKETS_PER_NODE"}},
	{Long: "cores-per-socket", Arg: getopt.Required, Value: "N", Help: "Minimum cores per socket", Variables: []string{"SLURM_CORES_PER_SOCKET"}},
	{Long: "threads-per-core", Arg: getopt.Required, Value: "N", Help: "Threads to use per core", Variables: []string{"SLURM_THREADS_PER_CORE"}},
	{Long: "ntasks-per-core", Arg: getopt.Required, Value: "N", Help: "Tasks on each core", Variables: []string{"SLURM_NTASKS_PER_CORE"}},
	{Long: "ntasks-per-socket", Arg: getopt.Required, Value: "N", Help: "Tasks on each socket", Variables: []string{"SLURM_NTASKS_PER_SOCKET"}},
	{Long: "mem-bind", Arg: getopt.Required, Value: "HOW", Help: "Binding of tasks to memory", Variables: []string{"SLURM_MEM_BIND"}},
	{Long: "cpu-freq", Arg: getopt.Required, Value: "FREQ", Help: "CPU frequency", Variables: []string{"SLURM_CPU_FREQ_REQ"}},
	{Long: "core-spec", Short: 'S', Arg: getopt.Required, Value: "N", Help: "Cores reserved for the system", Variables: []string{"SLURM_CORE_SPEC"}},
	{Long: "thread-spec", Arg: getopt.Required, Value: "N", Help: "Threads reserved for the system", Variables: []string{"SLURM_THREAD_SPEC"}},
	{Long: "mincpus", Arg: getopt.Required, Value: "N", Help: "Minimum CPUs per node", Variables: []string{"SLURM_MINCPUS"}},
	{Long: "contiguous", Help: "Contiguous nodes", Variables: []string{"SLURM_CONTIGUOUS"}},
	{Long: "oversubscribe", Short: 's', Help: "Share allocated resources with other jobs", Variables: []string{"SLURM_OVERSUBSCRIBE"}},
	{Long: "overcommit", Short: 'O', Help: "Run several tasks per CPU", Variables: []string{"SLURM_OVERCOMMIT"}},
	{Long: "use-min-nodes", Help: "Prefer the smallest number of nodes", Variables: []string{"SLURM_USE_MIN_NODES"}},
	{Long: "gpu-bind", Arg: getopt.Required, Value: "HOW", Help: "Binding of tasks to GPUs", Variables: []string{"SLURM_GPU_BIND"}},
	{Long: "gpu-freq", Arg: getopt.Required, Value: "FREQ", Help: "GPU frequency", Variables: []string{"SLURM_GPU_FREQ"}},
	{Long: "tres-bind", Arg: getopt.Required, Value: "HOW", Help: "Binding of tasks to resources", Variables: []string{"SLURM_TRES_BIND"}},
	{Long: "gres-flags", Arg: getopt.Required, Value: "HOW", Help: "Selection of generic resources", Variables: []string{"SLURM_GRES_FLAGS"}},
	{Long: "time-min", Arg: getopt.Required, Value: "TIME", Help: "Minimum acceptable time limit", Variables: []string{"SLURM_TIME_MIN"}},
	{Long: "acctg-freq", Arg: getopt.Required, Value: "SECONDS", Help: "Sampling interval for resource usage", Variables: []string{"SLURM_ACCTG_FREQ"}},
	{Long: "profile", Arg: getopt.Required, Value: "WHAT", Help: "Usage data to sample", Variables: []string{"SLURM_PROFILE"}},
	{Long: "wait-all-nodes", Arg: getopt.Required, Value: "0|1", Help: "Wait until all nodes are ready (always enabled)", Variables: []string{"SLURM_WAIT_ALL_NODES"}},
	{Long: "delay-boot", Arg: getopt.Required, Value: "MINUTES", Help: "Delay booting nodes", Variables: []string{"SLURM_DELAY_BOOT"}},
	{Long: "power", Arg: getopt.Required, Value: "FLAGS", Help: "Power management", Variables: []string{"SLURM_POWER"}},
	{Long: "get-user-env", Arg: getopt.Optional, Value: "TIMEOUT", Help: "Load the login shell's startup files", Variables: []string{"SLURM_GET_USER_ENV"}},
	{Long: "oom-kill-step", Arg: getopt.Optional, Value: "0|1", Help: "End a step if one of its tasks runs out of memory (always enabled)", Variables: []string{"SLURM_OOM_KILL_STEP"}},
	{Long: "nice", Arg: getopt.Optional, Value: "N", Help: "Priority adjustment: use --qos", Variables: []string{"SLURM_NICE"}},
	{Long: "propagate", Arg: getopt.Optional, Value: "LIMITS", Help: "Propagate the shell's resource limits", Variables: []string{"SLURM_PROPAGATE"}},
}

// Srun lists the options of srun.
var Srun = []getopt.Option{
	{Long: "cpu-bind", Arg: getopt.Required, Value: "HOW", Help: "Binding of tasks to CPUs", Variables: []string{"SLURM_CPU_BIND"}},
	{Long: "accel-bind", Arg: getopt.Required, Value: "HOW", Help: "Binding of tasks to accelerators and networks"},
	{Long: "interactive", Help: "Start a step for an interactive shell"},
	{Long: "quit-on-interrupt", Help: "End the step on a single Ctrl-C"},
	{Long: "disable-status", Short: 'X', Help: "Forward the first Ctrl-C without printing the status", Variables: []string{"SLURM_DISABLE_STATUS"}},
	{Long: "msg-timeout", Arg: getopt.Required, Value: "SECONDS", Help: "Message timeout", Variables: []string{"SLURM_MSG_TIMEOUT"}},
	{Long: "send-libs", Arg: getopt.Optional, Value: "yes|no", Help: "Also send shared libraries with --bcast", Variables: []string{"SLURM_SEND_LIBS"}},
	{Long: "slurmd-debug", Arg: getopt.Required, Value: "LEVEL", Help: "Log level of slurmd", Variables: []string{"SLURM_SLURMD_DEBUG"}},
	{Long: "treewidth", Arg: getopt.Required, Value: "N", Help: "Fan-out of messages", Variables: []string{"SLURM_TREE_WIDTH"}},
	{Long: "whole", Help: "Give each step all CPUs of its nodes", Variables: []string{"SLURM_WHOLE"}},
}

// IsListed reports whether an option, without its dashes, has no effect.
func IsListed(name string) bool {
	hasName := func(o getopt.Option) bool { return o.Long == name }
	return slices.ContainsFunc(Common, hasName) || slices.ContainsFunc(Srun, hasName)
}
