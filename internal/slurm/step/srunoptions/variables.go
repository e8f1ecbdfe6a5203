package srunoptions

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// variable is an environment variable of srun and the option that it sets.
type variable struct {
	name, option string
	// isSwitch is true if the option takes no value.
	isSwitch bool
}

// heeded lists the environment variables that set options of steps, in the order in which they are applied.
var heeded = []variable{
	{"SLURM_EXACT", "exact", true}, {"SLURM_KILL_BAD_EXIT", "kill-on-bad-exit", false}, {"SLURM_LABELIO", "label", true}, {"SLURM_OPEN_MODE", "open-mode", false},
	{"SLURM_OVERCOMMIT", "overcommit", true}, {"SLURM_OVERLAP", "overlap", true}, {"SLURM_STDERRMODE", "error", false}, {"SLURM_STDINMODE", "input", false},
	{"SLURM_STDOUTMODE", "output", false}, {"SLURM_UNBUFFEREDIO", "unbuffered", true}, {"SLURM_WAIT", "wait", false},
}

// idle lists environment variables of Slurm's srun that have no effect here, for example because only the job or
// options determine the size of a step.
var idle = []variable{
	{"SLURM_NNODES", "nodes", false}, {"SLURM_JOB_NUM_NODES", "nodes", false}, {"SLURM_NTASKS", "ntasks", false}, {"SLURM_NPROCS", "ntasks", false},
	{"SLURM_NTASKS_PER_NODE", "ntasks-per-node", false}, {"SLURM_GPUS", "gpus", false}, {"SLURM_GPUS_PER_NODE", "gpus-per-node", false}, {"SLURM_GPUS_PER_TASK", "gpus-per-task", false},
	{"SLURM_GRES", "gres", false}, {"SLURM_EXPORT_ENV", "export", false}, {"SLURM_TIMELIMIT", "time", false}, {"SLURM_SIGNAL", "signal", false}, {"SLURM_WORKING_DIR", "chdir", false},
	{"SLURM_REMOTE_CWD", "chdir", false}, {"SLURM_IMMEDIATE", "immediate", false}, {"SLURM_MPI_TYPE", "mpi", false}, {"SLURM_CPU_BIND", "cpu-bind", false}, {"SLURM_MEM_BIND", "mem-bind", false},
	{"SLURM_GPU_BIND", "gpu-bind", false}, {"SLURM_DISTRIBUTION", "distribution", false}, {"SLURM_HINT", "hint", false}, {"SLURM_THREADS_PER_CORE", "threads-per-core", false},
	{"SLURM_CPU_FREQ_REQ", "cpu-freq", false}, {"SLURM_PROFILE", "profile", false}, {"SLURM_ACCTG_FREQ", "acctg-freq", false},
}

// FromEnvironment returns the options that environment variables set. Options from the command line must follow these
// options in order to take precedence.
func FromEnvironment(lookup func(name string) (value string, set bool)) []getopt.Given {
	var all []getopt.Given
	for _, v := range heeded {
		value, set := lookup(v.name)
		hasEffect := value != ""
		if v.isSwitch {
			hasEffect = getopt.IsSwitchedOn(value)
		}
		if !set || !hasEffect {
			continue
		}
		given := getopt.Given{Name: v.option, As: v.name}
		if !v.isSwitch {
			given.Value, given.HasValue = value, true
		}
		all = append(all, given)
	}
	return all
}

// IneffectiveVariables returns the variables without effect that the user has set for srun. These are the variables
// whose values differ from the script's environment. It omits variables whose option was also specified. Inside a task,
// it returns nothing, because the variables there describe the task's own step.
func IneffectiveVariables(p getopt.Parsed, lookup func(string) (string, bool), given []string) []string {
	if _, inTask := lookup("SLURM_STEP_ID"); inTask {
		return nil
	}
	var all []string
	for _, v := range idle {
		value, set := lookup(v.name)
		entry := v.name + "=" + value
		asItIs := slices.Contains(fine[v.option], value) || slices.Contains([]string{"", "none"}, strings.ToLower(value))
		isOverridden := p.Has(v.option) || slices.Contains(given, entry)
		if set && !asItIs && !isOverridden {
			all = append(all, entry)
		}
	}
	return all
}
