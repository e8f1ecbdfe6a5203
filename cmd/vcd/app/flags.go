package app

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/klog/v2"

	"github.com/vc-batch/vc/api/keys"

	"github.com/vc-batch/vc/internal/controllers"
	"github.com/vc-batch/vc/internal/controllers/job"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/traceexport"
)

// parts is the set of components whose flags a command has.
type parts int

const (
	scheduling parts = 1 << iota
	controlling
	admitting
	recording
)

// flags holds the command line of a command. Flags that also exist in Volcano have the same names there.
type flags struct {
	kubeconfig, master string

	leaderElect    bool
	leaseNamespace string
	leaseDuration  time.Duration
	renewDeadline  time.Duration
	retryPeriod    time.Duration

	csiStorage bool

	metricsAddress string
	enableMetrics  bool
	perJobMetrics  bool
	otlpEndpoint   string
	healthAddress  string
	enableHealth   bool
	pprof          bool

	schedulerNames []string
	schedulerConf  string
	confOptional   bool
	period         time.Duration
	defaultQueue   string

	controllers []string
	maxRequeue  int
	cronWorkers int
	inherit     bool

	listsAddress, listsService string

	admission  admissionFlags
	accounting accountingFlags
	gates      featureGates
}

func (f *flags) bindFlags(fs *pflag.FlagSet, p parts) {
	fs.SortFlags = false
	fs.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig file; by default, $KUBECONFIG, then the pod's service account")
	fs.StringVar(&f.master, "master", "", "address of the API server; overrides the kubeconfig's address")
	fs.StringSliceVar(&f.schedulerNames, "scheduler-name", []string{keys.DefaultSchedulerName}, "spec.schedulerName of the pods to schedule; can be repeated")
	if p&scheduling != 0 {
		fs.StringVar(&f.schedulerConf, "scheduler-conf", "", "path of volcano-scheduler.conf, which is reloaded when it changes; by default, the built-in configuration")
		fs.BoolVar(&f.confOptional, "scheduler-conf-optional", false, "use the built-in configuration while the file of --scheduler-conf does not exist, instead of reporting an error")
		fs.DurationVar(&f.period, "schedule-period", time.Second, "maximum time between two scheduling cycles; changes start a cycle immediately")
		fs.BoolVar(&f.csiStorage, "csi-storage", true, "respect the volume limits and storage capacities that CSI drivers report")
		fs.StringVar(&f.defaultQueue, "default-queue", keys.DefaultQueue, "queue for objects that do not specify a queue; created if it does not exist")
	}
	if p&controlling != 0 {
		fs.StringSliceVar(&f.controllers, "controllers", controllers.DefaultSelection(), "controllers to run: * selects all, NAME or +NAME adds NAME, -NAME excludes NAME; valid names: "+
			strings.Join(controllers.Names(), ", "))
		fs.IntVar(&f.maxRequeue, "max-requeue-num", job.DefaultMaxRequeue, "number of times that the API server can reject a job's pods as invalid before the job is terminated; negative values mean no limit")
		fs.IntVar(&f.cronWorkers, "worker-threads-for-cronjob", 3, "number of CronJobs that are processed concurrently")
		fs.BoolVar(&f.inherit, "inherit-owner-annotations", true, "copy the annotations volcano.sh/... from a plain pod's ReplicaSet, StatefulSet, DaemonSet or Job to the pod's PodGroup")
		fs.StringVar(&f.otlpEndpoint, "otlp-endpoint", "", "URL of the OpenTelemetry collector that receives a trace of each ended job, such as http://collector:4317; by default, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, then OTEL_EXPORTER_OTLP_ENDPOINT; without them, no traces are sent")
		fs.StringVar(&f.listsAddress, "lists-address", "", "listen address for serving job lists from memory, for squeue; by default, job lists are not served")
		fs.StringVar(&f.listsService, "lists-service", "", "NAMESPACE/NAME of the service through which the API server reaches the job lists; without this flag, the API server must run on this machine")
	}
	if p&admitting != 0 {
		f.admission.bindFlags(fs)
	}
	if p&recording != 0 {
		f.accounting.bindFlags(fs)
	}
	if p&(scheduling|controlling|recording) != 0 {
		fs.BoolVar(&f.leaderElect, "leader-elect", true, "allow only one of several processes to be active at a time")
		fs.StringVar(&f.leaseNamespace, "leader-elect-resource-namespace", daemon.Namespace, "namespace of the leases")
		fs.DurationVar(&f.leaseDuration, "leader-elect-lease-duration", daemon.DefaultLeaseDuration, "time after which an unresponsive leader is replaced")
		fs.DurationVar(&f.renewDeadline, "leader-elect-renew-deadline", daemon.DefaultRenewDeadline, "time after which a leader that cannot renew its lease stops")
		fs.DurationVar(&f.retryPeriod, "leader-elect-retry-period", daemon.DefaultRetryPeriod, "time between two attempts to become the leader or to renew the lease")
	}
	fs.StringVar(&f.metricsAddress, "listen-address", ":8080", "address of /metrics")
	fs.BoolVar(&f.enableMetrics, "enable-metrics", true, "serve /metrics")
	if p&(scheduling|controlling) != 0 {
		fs.BoolVar(&f.perJobMetrics, "per-job-metrics", false, "add metrics with a series for each job, as Volcano has them; a large cluster has hundreds of thousands of series")
	}
	fs.StringVar(&f.healthAddress, "healthz-address", ":11251", "address of /healthz and /readyz")
	fs.BoolVar(&f.enableHealth, "enable-healthz", true, "serve /healthz and /readyz")
	fs.BoolVar(&f.pprof, "enable-pprof", false, "serve Go profiles under /debug/pprof at the address of /metrics")
	f.gates = featureGates{}
	fs.Var(f.gates, "feature-gates", "Volcano's feature gates; "+queueGate+" (default false) adds a gate to pods that wait for admission to their queue")
	bindVerbosity(fs)
	f.bindObsolete(fs, p)
}

// bindVerbosity adds klog's -v flag. Users do not need klog's other flags.
func bindVerbosity(fs *pflag.FlagSet) {
	all := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(all)
	v := pflag.PFlagFromGoFlag(all.Lookup("v"))
	v.Usage = "log verbosity: 0 for operators; 1 adds messages per job or cycle, 2 per gang, 4 per node"
	fs.AddFlag(v)
}

// toOptions converts the flags to the daemon's options.
func (f *flags) toOptions(components []string) (daemon.Options, error) {
	config, err := connectionConfig(f.kubeconfig, f.master)
	if err != nil {
		return daemon.Options{}, &connectError{err}
	}
	if f.period < 0 {
		return daemon.Options{}, fmt.Errorf("--schedule-period %s: must not be negative", f.period)
	}
	if f.cronWorkers < 0 {
		return daemon.Options{}, fmt.Errorf("--worker-threads-for-cronjob %d: must not be negative", f.cronWorkers)
	}
	if f.leaderElect && (f.leaseDuration <= f.renewDeadline || f.renewDeadline <= 2*f.retryPeriod) {
		return daemon.Options{}, fmt.Errorf("--leader-elect-lease-duration %s, --leader-elect-renew-deadline %s, --leader-elect-retry-period %s: the lease duration must be longer than the renew deadline, and the renew deadline must be longer than two retry periods",
			f.leaseDuration, f.renewDeadline, f.retryPeriod)
	}
	o := daemon.Options{
		Config: config, Components: components,
		LeaderElect: f.leaderElect, LeaseNamespace: f.leaseNamespace,
		LeaseDuration: f.leaseDuration, RenewDeadline: f.renewDeadline, RetryPeriod: f.retryPeriod,
		SchedulerConf: f.schedulerConf, SchedulerConfOptional: f.confOptional, SchedulerNames: f.schedulerNames, DefaultQueue: f.defaultQueue,
		SchedulePeriod: f.period, NoCSI: !f.csiStorage, Pprof: f.pprof, PerJobMetrics: f.perJobMetrics,
	}
	o.Controllers.MaxRequeue = f.maxRequeue
	if f.maxRequeue == 0 {
		o.Controllers.MaxRequeue = 1 // the first rejection is final
	}
	o.Controllers.CronJobReconcilers, o.Controllers.OwnersKeepAnnotations = f.cronWorkers, !f.inherit
	if o.Controllers.Selection, err = controllers.ParseSelection(f.controllers); err != nil {
		return o, err
	}
	if f.otlpEndpoint != "" {
		if _, err := traceexport.ParseEndpoint(f.otlpEndpoint); err != nil {
			return o, fmt.Errorf("--otlp-endpoint %w", err)
		}
	}
	o.OTLPEndpoint = f.otlpEndpoint
	o.Listing.ListenAddress = f.listsAddress
	if f.listsService != "" {
		namespace, name, ok := strings.Cut(f.listsService, "/")
		if !ok || namespace == "" || name == "" {
			return o, fmt.Errorf("--lists-service %q: must be NAMESPACE/NAME", f.listsService)
		}
		o.Listing.Namespace, o.Listing.Service = namespace, name
	}
	if f.enableMetrics {
		o.MetricsAddress = f.metricsAddress
	}
	if f.enableHealth {
		o.HealthAddress = f.healthAddress
	}
	if o.Admission, err = f.admission.toOptions(f.gates); err != nil {
		return o, err
	}
	return o, f.accounting.setOptions(&o)
}
