package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/api/keys"

	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/aggregatedapi"
	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/internal/controllers"
)

// The components of the daemon.
const (
	Scheduler   = "scheduler"
	Controllers = "controllers"
	Admission   = "admission"
)

// ComponentNames lists the components that every cluster needs, in the order in which they start.
func ComponentNames() []string { return []string{Admission, Controllers, Scheduler} }

// Namespace is the default namespace of the daemon's own objects.
const Namespace = "volcano-system"

// The default durations for leader election. client-go waits between one and 2.2 retry periods before it tries again, so
// another replica sees the last renewal of a leader that crashes at most 1.1 s late, and tries at most 1.1 s after the
// lease has expired: there is no leader for at most 14.2 s. After a leader that ends in good order, it is 1.1 s.
const (
	DefaultLeaseDuration = 12 * time.Second
	DefaultRenewDeadline = 8 * time.Second
	DefaultRetryPeriod   = 500 * time.Millisecond
)

// Options configures Run. Config is required.
type Options struct {
	// Config is the configuration for clients of the API server. Run uses copies of it without client-side rate limits.
	Config *rest.Config
	// Components lists the components to run. If it is empty, all components in ComponentNames run.
	Components []string

	// LeaderElect turns on leader election. If there are several daemons, only one of them runs a component at any
	// time.
	LeaderElect bool
	// LeaseNamespace is the namespace of the leases. Empty means Namespace.
	LeaseNamespace string
	// LeaseDuration, RenewDeadline and RetryPeriod are the durations for leader election. Zero means the defaults.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration

	// SchedulerConf is the path of volcano-scheduler.conf. Empty means the built-in configuration. The file is read
	// again when it changes. If the new content is invalid, it is rejected and the last valid configuration stays in
	// use.
	SchedulerConf string
	// SchedulerConfOptional permits that the file does not exist. While it is missing, the built-in configuration is used.
	SchedulerConfOptional bool
	// SchedulerNames lists the values of spec.schedulerName that this scheduler handles. Empty means volcano.
	SchedulerNames []string
	// DefaultQueue is the queue of jobs and PodGroups that do not specify a queue. Empty means default.
	DefaultQueue string
	// NoCSI turns off the watches of CSI objects (drivers, nodes, capacities, attachments).
	NoCSI bool
	// SchedulePeriod is the longest time between two cycles. Zero means one second.
	SchedulePeriod time.Duration

	// MetricsAddress is the address of /metrics (and of /debug/pprof with Pprof). Empty turns it off.
	MetricsAddress string
	// PerJobMetrics adds series for individual jobs and pods to the metrics of the scheduler and the controllers.
	PerJobMetrics bool
	// OTLPEndpoint is the URL of the OpenTelemetry collector that receives the traces of jobs. If it is empty,
	// OpenTelemetry's environment variables decide whether traces are sent.
	OTLPEndpoint string
	// HealthAddress is the address of /healthz and /readyz. Empty turns it off.
	HealthAddress string
	// Pprof serves Go's profiles on MetricsAddress.
	Pprof bool

	pressure *backpressure.Throttle // shared by all components

	// Admission and Controllers are the options of these components.
	Admission   admission.Options
	Controllers controllers.Options
	// Accounting configures the component of this name.
	Accounting AccountingOptions
	// Listing configures whether and where the controllers serve job lists.
	Listing aggregatedapi.Options

	// Ready is called from a goroutine of Run when a component is ready for the first time: admission when its webhooks
	// are installed, and the other two when they are leading and their caches are filled. It may be nil.
	Ready func(component string)
}

// withDefaults validates o and fills in the defaults.
func (o Options) withDefaults() (Options, error) {
	if o.Config == nil {
		return o, fmt.Errorf("the options contain no configuration for the API server")
	}
	if len(o.Components) == 0 {
		o.Components = ComponentNames()
	}
	for _, c := range o.Components {
		if c != Accounting && !slices.Contains(ComponentNames(), c) {
			return o, fmt.Errorf("unknown component %q; valid components are %s, %s", c, strings.Join(ComponentNames(), ", "), Accounting)
		}
	}
	if slices.Contains(o.Components, Accounting) {
		var err error
		if o.Accounting, err = o.Accounting.withDefaults(); err != nil {
			return o, err
		}
	}
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	setIfZero(&o.DefaultQueue, keys.DefaultQueue)
	setIfZero(&o.LeaseNamespace, Namespace)
	setIfZero(&o.LeaseDuration, DefaultLeaseDuration)
	setIfZero(&o.RenewDeadline, DefaultRenewDeadline)
	setIfZero(&o.RetryPeriod, DefaultRetryPeriod)
	setIfZero(&o.SchedulePeriod, time.Second)
	setIfZero(&o.Listing.Namespace, Namespace)
	if o.Ready == nil {
		o.Ready = func(string) {}
	}
	if len(o.Admission.SchedulerNames) == 0 {
		o.Admission.SchedulerNames = o.SchedulerNames
	}
	o.Controllers.PerJobMetrics = o.PerJobMetrics
	if len(o.Controllers.SchedulerNames) == 0 {
		o.Controllers.SchedulerNames = o.SchedulerNames
	}
	return o, nil
}

func setIfZero[T comparable](value *T, fallback T) {
	var zero T
	if *value == zero {
		*value = fallback
	}
}
