package request

import "github.com/vc-batch/vc/internal/slurm/getopt"

func exactFlag(long, help string) getopt.Option {
	return getopt.Option{Long: long, Help: help, Exact: true}
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
}
