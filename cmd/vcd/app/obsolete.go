package app

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/pflag"

	"github.com/vc-batch/vc/internal/daemon"
)

// ignoredFlag describes a flag of Volcano that has no effect in vcd.
type ignoredFlag struct {
	name string
	// bare permits specifying the flag without a value.
	bare bool
	why  string
}

const (
	adapts       = "the write rate adapts to the load of the API server"
	everyNode    = "every node is evaluated"
	sharedWork   = "jobs, queues and PodGroups share the same workers"
	logsToStderr = "logs go only to stderr"
	ownLeases    = "the leases have the same names as Volcano's leases, so that two schedulers or controllers are never active at the same time"
	noSharding   = "nodes are not divided among schedulers"
	noDumps      = "the state can be queried and is not dumped into files"
	certificates = "the daemon creates and renews the webhooks' certificate, or reads it from --webhook-certificate-dir; /metrics and /healthz use plain HTTP"
)

// ignoredFlags returns the flags of Volcano that the components accept but ignore.
func (p parts) ignoredFlags() []ignoredFlag {
	all := []ignoredFlag{
		{"kube-api-qps", false, adapts}, {"kube-api-burst", false, adapts},
		{"tls-cert-file", false, certificates}, {"tls-private-key-file", false, certificates}, {"ca-cert-file", false, certificates},
		{"logtostderr", true, logsToStderr}, {"alsologtostderr", true, logsToStderr}, {"stderrthreshold", false, logsToStderr},
		{"log_dir", false, logsToStderr}, {"log_file", false, logsToStderr}, {"log_file_max_size", false, logsToStderr}, {"log_backtrace_at", false, logsToStderr},
		{"one_output", true, logsToStderr}, {"skip_headers", true, logsToStderr}, {"skip_log_headers", true, logsToStderr}, {"add_dir_header", true, logsToStderr},
		{"vmodule", false, "-v applies to the whole daemon"},
	}
	if p&(scheduling|controlling) != 0 {
		all = append(all, ignoredFlag{"leader-elect-resource-lock", false, ownLeases}, ignoredFlag{"leader-elect-resource-name", false, ownLeases})
	}
	if p&scheduling != 0 {
		all = append(all,
			ignoredFlag{"minimum-feasible-nodes", false, everyNode}, ignoredFlag{"minimum-percentage-nodes-to-find", false, everyNode},
			ignoredFlag{"percentage-nodes-to-find", false, everyNode},
			ignoredFlag{"ignored-provisioners", false, "volume limits apply only to nodes that report them"},
			ignoredFlag{"node-worker-threads", false, "a single worker updates the scheduler's copy of the cluster state"},
			ignoredFlag{"gate-removal-worker-num", false, adapts},
			ignoredFlag{"resync-period", false, "interrupted watches are resumed without listing the objects again"},
			ignoredFlag{"resource-sync-timeout", false, "the first scheduling cycle waits until the cluster state has been loaded"},
			ignoredFlag{"priority-class", true, "priorities are used if the scheduler's configuration contains policy priority"},
			ignoredFlag{"disable-default-scheduler-config", true, "without a configuration file, the default configuration is used"},
			ignoredFlag{"plugins-dir", false, "a custom policy is compiled into the program with one function call; see examples/custom-policy"},
			ignoredFlag{"scheduler-sharding-mode", false, noSharding}, ignoredFlag{"scheduler-sharding-name", false, noSharding},
			ignoredFlag{"cache-dumper", true, noDumps}, ignoredFlag{"cache-dump-dir", false, noDumps})
	}
	if p&controlling != 0 {
		all = append(all,
			ignoredFlag{"worker-threads", false, sharedWork}, ignoredFlag{"worker-threads-for-podgroup", false, sharedWork}, ignoredFlag{"worker-threads-for-queue", false, sharedWork},
			ignoredFlag{"worker-threads-for-gc", false, "the controllers delete finished jobs"},
			ignoredFlag{"scheduler-configs", false, noSharding}, ignoredFlag{"shard-sync-period", false, noSharding}, ignoredFlag{"enable-node-event-trigger", true, noSharding},
			ignoredFlag{"sharding-configmap", false, noSharding}, ignoredFlag{"sharding-configmap-namespace", false, noSharding})
	}
	if p&admitting != 0 {
		all = append(all,
			ignoredFlag{"port", false, "use --webhook-listen-address for the port"},
			ignoredFlag{"graceful-shutdown-time", false, "requests in progress have 10 s to finish"})
	}
	return all
}

// bindObsolete adds flags of Volcano that have another meaning or no effect in vcd, so that Volcano's command lines
// still work. A warning is printed if such a flag is used.
func (f *flags) bindObsolete(fs *pflag.FlagSet, p parts) {
	for _, i := range p.ignoredFlags() {
		fs.String(i.name, "", i.why)
		if i.bare {
			fs.Lookup(i.name).NoOptDefVal = "true"
		}
		deprecateFlag(fs, i.name, "it is ignored: "+i.why)
	}
	if p&(scheduling|controlling) != 0 {
		fs.StringVar(&f.leaseNamespace, "lock-object-namespace", daemon.Namespace, "namespace of the leases")
		deprecateFlag(fs, "lock-object-namespace", "use --leader-elect-resource-namespace")
	}
	if p&admitting != 0 {
		f.admission.bindObsolete(fs)
	}
}

// deprecateFlag hides a flag and prints a message if it is used.
func deprecateFlag(fs *pflag.FlagSet, name, message string) {
	if err := fs.MarkDeprecated(name, message); err != nil {
		panic(err) // the flag was not added, which is a programming error
	}
}

// alwaysOn maps feature gates of Volcano that have no effect in vcd to a description of how to disable the feature.
var alwaysOn = map[string]string{
	"WorkLoadSupport":             "--controllers=*,-pg-controller leaves plain pods and their workloads alone",
	"VolcanoJobSupport":           "--controllers=*,-job-controller leaves jobs alone",
	"QueueCommandSync":            "--controllers=*,-queue-controller leaves queues alone",
	"CronVolcanoJobSupport":       "--controllers=*,-cronjob-controller leaves CronJobs alone",
	"PodDisruptionBudgetsSupport": "PodDisruptionBudgets are respected if the scheduler's configuration contains policy pdb",
	"PriorityClass":               "priorities are used if the scheduler's configuration contains policy priority",
	"ResourceTopology":            "the NUMA topology is used if the scheduler's configuration contains policy numaaware",
}

// ignoredGates returns a warning for each specified feature gate that has no effect.
func (g featureGates) ignoredGates() []string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(g)) {
		instead, ours := alwaysOn[name]
		switch {
		case name == queueGate, ours && g[name]:
			continue
		case name == "CSIStorage":
			instead = "use --csi-storage"
		case !ours:
			instead = "Kubernetes feature gates have the defaults of the Kubernetes version that vcd is built with"
		}
		lines = append(lines, fmt.Sprintf("feature gate %s=%t is ignored: %s", name, g[name], instead))
	}
	return lines
}
