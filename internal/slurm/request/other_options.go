package request

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/getopt/noeffect"
)

func newExactFlag(long, help string) getopt.Option {
	return getopt.Option{Long: long, Help: help, Exact: true}
}

// restrictTo restricts an option to some commands.
func restrictTo(on Command, o Option) Option {
	o.On = on
	return o
}

// ignoreAll returns options that are ignored by some commands.
func ignoreAll(on Command, options []getopt.Option) []Option {
	all := make([]Option, len(options))
	for i, o := range options {
		all[i] = Option{Option: o, Class: Ignored, Env: strings.TrimPrefix(strings.Join(o.Variables, ""), prefix[Srun]), On: on}
	}
	return all
}

// otherOptions lists Slurm's options that have no effect here, or that are not supported.
var otherOptions = slices.Concat(ignoreAll(0, noeffect.Common), ignoreAll(Srun, noeffect.Srun), []Option{
	restrictTo(Srun, newAlias("cpu_bind", "cpu-bind", getopt.Required)),
	newAlias("mem_bind", "mem-bind", getopt.Required),
	restrictTo(Sbatch, newIgnored(newRequired("mem-update", 0, "SIZE", "Change the memory of a running job"), "")),
	restrictTo(Salloc, newIgnored(newFlag("bell", 0, "Ring the terminal bell when the allocation is granted"), "BELL")),
	restrictTo(Salloc, newIgnored(newFlag("no-bell", 0, "Do not ring the terminal bell"), "NO_BELL")),
	restrictTo(Salloc, newIgnored(newOptional("kill-command", 'K', "SIGNAL", "Signal for the command when the allocation ends (always SIGTERM)"), "KILL_CMD")),
	// Options that would change what runs, where it runs or what is guaranteed.
	newRefused(newRequired("reservation", 0, "NAME", ""), "RESERVATION", "Volcano does not support advance reservations"),
	newRefused(newRequired("deadline", 0, "TIME", ""), "DEADLINE", "jobs are not removed at a deadline; use --time and --begin"),
	newRefused(newRequired("gpus-per-socket", 0, "N", ""), "GPUS_PER_SOCKET", "sockets are not distinguished; use --gpus-per-node"),
	newRefused(newRequired("priority", 0, "N", ""), "PRIORITY", "use --qos to set the priority"),
	newRefused(newRequired("resources", 0, "LIST", ""), "RESOURCES", "use --gres"),
	newRefused(newRequired("container", 0, "BUNDLE", ""), "CONTAINER", "OCI bundles are not supported; use --container-image"),
	newRefused(newRequired("container-id", 0, "ID", ""), "CONTAINER_ID", "OCI bundles are not supported; use --container-image"),
	newRefused(newRequired("container-name", 0, "NAME", ""), "CONTAINER_NAME", "containers are not preserved between jobs"),
	newRefused(newRequired("container-save", 0, "FILE", ""), "CONTAINER_SAVE", "containers are not preserved between jobs"),
	newRefused(newRequired("uid", 0, "USER", ""), "UID", "a job runs with the permissions of its namespace"),
	newRefused(newRequired("gid", 0, "GROUP", ""), "GID", "a job runs with the permissions of its namespace"),
	newRefused(newFlag("reboot", 0, ""), "REBOOT", "nodes are not rebooted for jobs"),
	newRefused(newRequired("bb", 0, "SPEC", ""), "BURST_BUFFER", "burst buffers are not supported; use a volume from the profile"),
	newRefused(newRequired("bbf", 0, "FILE", ""), "BURST_BUFFER_FILE", "burst buffers are not supported; use a volume from the profile"),
	newRefused(newRequired("network", 0, "SPEC", ""), "NETWORK", "the cluster determines the network"),
	newRefused(newOptional("resv-ports", 0, "N", ""), "RESV_PORTS", "every pod can use all ports on its own IP address"),
	newRefused(newFlag("stepmgr", 0, ""), "STEPMGR", "the job's own launcher manages the steps"),
	newRefused(newRequired("container-env", 0, "NAMES", ""), "CONTAINER_ENV", "use --export"),
	restrictTo(Sbatch, newRefused(newRequired("batch", 0, "FEATURES", ""), "BATCH", "the script runs on the first node, regardless of its features; use --constraint")),
	newRefused(newRequired("cluster-constraint", 0, "FEATURES", ""), "CLUSTER_CONSTRAINT", "a job runs in one cluster; use --clusters to select the cluster"),
	newRefused(newRequired("mcs-label", 0, "LABEL", ""), "MCS_LABEL", "jobs are isolated by namespaces, not by MCS labels"),
	newRefused(newFlag("consolidate-segments", 0, ""), "CONSOLIDATE_SEGMENTS", "use --switches"),
	newRefused(newFlag("spread-segments", 0, ""), "SPREAD_SEGMENTS", "use --spread-job"),
	restrictTo(Sbatch, newRefused(newFlag("external", 0, ""), "", "jobs without processes are not supported")),
	restrictTo(Sbatch, newRefused(newRequired("runtime", 0, "NAME", ""), "", "the cluster chooses the container runtime")),
	newRefused(newRequired("autocomplete", 0, "OPTION", ""), "", "to set up shell completion, use vcctl completion"),
	restrictTo(Srun, newRefused(newRequired("pack-group", 0, "EXPR", ""), "", "heterogeneous jobs are not supported")),
	restrictTo(Srun, newRefused(newFlag("no-allocate", 'Z', ""), "", "tasks can run only on the nodes of an allocation")),
	restrictTo(Srun, newRefused(newFlag("async", 0, ""), "", "start several steps with &, then use wait")),
	restrictTo(Salloc, newRefused(newFlag("no-shell", 0, ""), "NO_SHELL", "an allocation ends when its program ends; use sbatch --wrap='sleep infinity'")),
	restrictTo(Salloc|Srun, newRefused(newOptional("x11", 0, "WHERE", ""), "X11", "X11 displays are not forwarded")),
	restrictTo(Srun, newRefused(newOptional("bcast", 0, "FILE", ""), "BCAST", "provide programs in the image or on a volume from the profile")),
	restrictTo(Srun, newRefused(newRequired("bcast-exclude", 0, "PATHS", ""), "BCAST_EXCLUDE", "provide programs in the image or on a volume from the profile")),
	restrictTo(Srun, newRefused(newOptional("compress", 0, "LIBRARY", ""), "COMPRESS", "provide programs in the image or on a volume from the profile")),
	restrictTo(Srun, newRefused(newRequired("prolog", 0, "PROGRAM", ""), "PROLOG", "run the program before the command: srun sh -c 'PROGRAM; COMMAND'")),
	restrictTo(Srun, newRefused(newRequired("epilog", 0, "PROGRAM", ""), "EPILOG", "run the program after the command: srun sh -c 'COMMAND; PROGRAM'")),
	restrictTo(Srun, newRefused(newRequired("task-prolog", 0, "PROGRAM", ""), "TASK_PROLOG", "run the program before the command: srun sh -c 'PROGRAM; COMMAND'")),
	restrictTo(Srun, newRefused(newRequired("task-epilog", 0, "PROGRAM", ""), "TASK_EPILOG", "run the program after the command: srun sh -c 'COMMAND; PROGRAM'")),
	restrictTo(Srun, newRefused(newFlag("preserve-env", 'E', ""), "PRESERVE_ENV", "use --nodes and --ntasks instead of environment variables")),
	restrictTo(Srun, newRefused(newFlag("external-launcher", 0, ""), "EXTERNAL_LAUNCHER", "use srun or mpirun to start steps")),
})
