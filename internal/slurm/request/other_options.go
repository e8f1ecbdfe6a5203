package request

import "github.com/vc-batch/vc/internal/slurm/getopt"

func exactFlag(long, help string) getopt.Option {
	return getopt.Option{Long: long, Help: help, Exact: true}
}

// only is an option of some commands.
func only(on Command, o Option) Option {
	o.On = on
	return o
}

// otherOptions are those that Slurm has and that do nothing here, or cannot be had.
var otherOptions = []Option{
	// Where threads and memory go inside a node, and how they are counted.
	ignored(need("distribution", 'm', "HOW", "How tasks are spread over nodes and sockets"), "DISTRIBUTION", ""),
	ignored(need("extra-node-info", 'B', "S[:C[:T]]", "Sockets, cores and threads of nodes"), "EXTRA_NODE_INFO", ""),
	ignored(need("hint", 0, "HINT", "How a program uses memory and threads"), "HINT", ""),
	ignored(need("sockets-per-node", 0, "N", "Sockets that nodes must have"), "SOCKETS_PER_NODE", ""),
	ignored(need("cores-per-socket", 0, "N", "Cores that sockets must have"), "CORES_PER_SOCKET", ""),
	ignored(need("threads-per-core", 0, "N", "Threads of cores to use"), "THREADS_PER_CORE", ""),
	ignored(need("ntasks-per-core", 0, "N", "Tasks on each core"), "NTASKS_PER_CORE", ""),
	ignored(need("ntasks-per-socket", 0, "N", "Tasks on each socket"), "NTASKS_PER_SOCKET", ""),
	ignored(need("mem-bind", 0, "HOW", "How tasks are bound to memory"), "MEM_BIND", ""),
	ignored(need("cpu-freq", 0, "FREQ", "Frequency of processors"), "CPU_FREQ_REQ", ""),
	ignored(need("core-spec", 'S', "N", "Cores kept for the system"), "CORE_SPEC", ""),
	ignored(need("thread-spec", 0, "N", "Threads kept for the system"), "THREAD_SPEC", ""),
	ignored(need("mincpus", 0, "N", "CPUs that nodes must have"), "MINCPUS", ""),
	ignored(flag("contiguous", 0, "Nodes next to each other"), "CONTIGUOUS", ""),
	ignored(flag("oversubscribe", 's', "Share what is given with other jobs"), "OVERSUBSCRIBE", ""),
	ignored(flag("overcommit", 'O', "Several tasks on a CPU"), "OVERCOMMIT", ""),
	ignored(flag("use-min-nodes", 0, "Prefer the least number of nodes"), "USE_MIN_NODES", ""),
	ignored(need("gpu-bind", 0, "HOW", "How tasks are bound to GPUs"), "GPU_BIND", ""),
	ignored(need("gpu-freq", 0, "FREQ", "Frequency of GPUs"), "GPU_FREQ", ""),
	ignored(need("tres-bind", 0, "HOW", "How tasks are bound to resources"), "TRES_BIND", ""),
	ignored(need("gres-flags", 0, "HOW", "How generic resources are chosen"), "GRES_FLAGS", ""),
	ignored(need("time-min", 0, "TIME", "Least time limit that is enough"), "TIME_MIN", ""),
	ignored(need("acctg-freq", 0, "SECONDS", "How often use is sampled"), "ACCTG_FREQ", ""),
	ignored(need("profile", 0, "WHAT", "What is sampled"), "PROFILE", ""),
	ignored(need("wait-all-nodes", 0, "0|1", "Wait for all nodes: always so here"), "WAIT_ALL_NODES", ""),
	ignored(need("delay-boot", 0, "MINUTES", "Delay booting nodes"), "DELAY_BOOT", ""),
	ignored(need("power", 0, "FLAGS", "Power management"), "POWER", ""),
	ignored(may("get-user-env", 0, "TIMEOUT", "Run the login shell's start files"), "GET_USER_ENV", ""),
	ignored(may("oom-kill-step", 0, "0|1", "End a step when one of its tasks has no memory left: always so here"), "OOM_KILL_STEP", ""),
	only(Srun, ignored(need("cpu-bind", 0, "HOW", "How tasks are bound to CPUs"), "CPU_BIND", "")),
	only(Salloc, ignored(flag("bell", 0, "Ring the terminal's bell when there is an allocation"), "BELL", "")),
	only(Salloc, ignored(flag("no-bell", 0, "Do not ring the terminal's bell"), "NO_BELL", "")),
	only(Salloc, ignored(may("kill-command", 'K', "SIGNAL", "Signal for the command when the allocation ends: SIGTERM here"), "KILL_CMD", "")),
	only(Srun, ignored(flag("disable-status", 'X', "Take Ctrl-C for the end at once"), "DISABLE_STATUS", "")),
	only(Srun, ignored(need("msg-timeout", 0, "SECONDS", "How long to wait for messages"), "MSG_TIMEOUT", "")),
	only(Srun, ignored(may("send-libs", 0, "yes|no", "Send libraries along with --bcast"), "SEND_LIBS", "")),
	only(Srun, ignored(need("slurmd-debug", 0, "LEVEL", "What slurmd says"), "SLURMD_DEBUG", "")),
	only(Srun, ignored(need("treewidth", 0, "N", "How messages spread"), "TREE_WIDTH", "")),
	only(Srun, ignored(flag("whole", 0, "Steps get all CPUs of their nodes"), "WHOLE", "")),
	ignored(may("propagate", 0, "LIMITS", "Take over the limits of the shell"), "PROPAGATE", ""),
	// What would change what runs, where, or what is guaranteed.
	refused(need("reservation", 0, "NAME", ""), "RESERVATION", "Volcano has no advance reservations"),
	refused(need("deadline", 0, "TIME", ""), "DEADLINE", "a job cannot be removed for a deadline that it would miss; use --time and --begin"),
	refused(need("gpus-per-socket", 0, "N", ""), "GPUS_PER_SOCKET", "sockets are not told apart; use --gpus-per-node"),
	refused(may("nice", 0, "N", ""), "NICE", "priorities come with --qos"),
	refused(need("priority", 0, "N", ""), "PRIORITY", "priorities come with --qos"),
	refused(need("resources", 0, "LIST", ""), "RESOURCES", "use --gres"),
	refused(need("container", 0, "BUNDLE", ""), "CONTAINER", "OCI bundles cannot be run; use --container-image"),
	refused(need("container-id", 0, "ID", ""), "CONTAINER_ID", "OCI bundles cannot be run; use --container-image"),
	refused(need("container-name", 0, "NAME", ""), "CONTAINER_NAME", "containers are not kept between jobs"),
	refused(need("container-save", 0, "FILE", ""), "CONTAINER_SAVE", "containers are not kept between jobs"),
	refused(need("uid", 0, "USER", ""), "UID", "a job runs with the rights of its namespace"),
	refused(need("gid", 0, "GROUP", ""), "GID", "a job runs with the rights of its namespace"),
	refused(flag("reboot", 0, ""), "REBOOT", "nodes are not rebooted for jobs"),
	refused(need("bb", 0, "SPEC", ""), "BURST_BUFFER", "there are no burst buffers; use a volume of the profile"),
	refused(need("bbf", 0, "FILE", ""), "BURST_BUFFER_FILE", "there are no burst buffers; use a volume of the profile"),
	refused(need("network", 0, "SPEC", ""), "NETWORK", "networks are the cluster's"),
	refused(may("resv-ports", 0, "N", ""), "RESV_PORTS", "every pod has all ports of its own address"),
	refused(flag("stepmgr", 0, ""), "STEPMGR", "steps are managed by the job's own launcher"),
	refused(need("container-env", 0, "NAMES", ""), "CONTAINER_ENV", "use --export"),
	only(Sbatch, refused(need("batch", 0, "FEATURES", ""), "BATCH", "the script runs on the first node, whatever its features; use --constraint")),
	refused(need("cluster-constraint", 0, "FEATURES", ""), "CLUSTER_CONSTRAINT", "a job goes to one cluster; use --clusters"),
	refused(need("mcs-label", 0, "LABEL", ""), "MCS_LABEL", "there are no MCS labels; namespaces keep jobs apart"),
	refused(flag("consolidate-segments", 0, ""), "CONSOLIDATE_SEGMENTS", "use --switches"),
	refused(flag("spread-segments", 0, ""), "SPREAD_SEGMENTS", "use --spread-job"),
	only(Salloc, refused(flag("no-shell", 0, ""), "NO_SHELL", "an allocation ends with its program; use sbatch --wrap='sleep infinity'")),
	only(Salloc|Srun, refused(may("x11", 0, "WHERE", ""), "X11", "displays are not forwarded")),
	only(Srun, refused(may("bcast", 0, "FILE", ""), "BCAST", "programs are in the image or on a volume of the profile")),
	only(Srun, refused(need("bcast-exclude", 0, "PATHS", ""), "BCAST_EXCLUDE", "programs are in the image or on a volume of the profile")),
	only(Srun, refused(may("compress", 0, "LIBRARY", ""), "COMPRESS", "programs are in the image or on a volume of the profile")),
	only(Srun, refused(need("prolog", 0, "PROGRAM", ""), "PROLOG", "run it before the command: srun sh -c 'PROGRAM; COMMAND'")),
	only(Srun, refused(need("epilog", 0, "PROGRAM", ""), "EPILOG", "run it after the command: srun sh -c 'COMMAND; PROGRAM'")),
	only(Srun, refused(need("task-prolog", 0, "PROGRAM", ""), "TASK_PROLOG", "run it before the command: srun sh -c 'PROGRAM; COMMAND'")),
	only(Srun, refused(need("task-epilog", 0, "PROGRAM", ""), "TASK_EPILOG", "run it after the command: srun sh -c 'COMMAND; PROGRAM'")),
	only(Srun, refused(flag("preserve-env", 'E', ""), "PRESERVE_ENV", "give --nodes and --ntasks in place of variables")),
	only(Srun, refused(flag("external-launcher", 0, ""), "EXTERNAL_LAUNCHER", "steps are started by srun or by mpirun")),
}
