package daemon

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/api/keys"

	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/internal/controllers"
	"github.com/vc-batch/vc/internal/governor"
	"github.com/vc-batch/vc/internal/listing"
)

// The components of the daemon.
const (
	Scheduler   = "scheduler"
	Controllers = "controllers"
	Admission   = "admission"
)

// Components lists all components, in the order in which they start.
func Components() []string { return []string{Admission, Controllers, Scheduler} }

// Namespace is where the daemon's own objects live unless Options say otherwise.
const Namespace = "volcano-system"

// Options are what Run needs; Config is required.
type Options struct {
	// Config of the API server. Run works on copies without client-side rate limits.
	Config *rest.Config
	// Components to run; none means all.
	Components []string

	// LeaderElect lets one of several daemons work at a time, a component each.
	LeaderElect bool
	// LeaseNamespace of the leases; empty means Namespace.
	LeaseNamespace string
	// Election times; zero means 15 s, 10 s and 2 s.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration

	// SchedulerConf is the path of volcano-scheduler.conf; empty means the built-in
	// one. The file is read again when it changes; an invalid one is refused and
	// the last good one stays.
	SchedulerConf string
	// SchedulerNames are the values of spec.schedulerName that are ours; none means volcano.
	SchedulerNames []string
	// DefaultQueue takes what names no queue; empty means default.
	DefaultQueue string
	// NoCSI leaves out what CSI drivers say of nodes and of storage.
	NoCSI bool
	// SchedulePeriod is the longest time between two cycles; zero means one second.
	SchedulePeriod time.Duration

	// MetricsAddress serves /metrics (and /debug/pprof with Pprof); empty: not served.
	MetricsAddress string
	// HealthAddress serves /healthz and /readyz; empty: not served.
	HealthAddress string
	// Pprof serves Go's profiles on MetricsAddress.
	Pprof bool

	pressure *governor.Governor // of all components together

	// Admission and Controllers are handed to these components.
	Admission   admission.Options
	Controllers controllers.Options
	// Listing says where the controllers answer who lists jobs, if at all.
	Listing listing.Options

	// Ready is called, from a goroutine of Run, when a component does its work for
	// the first time: admission when its webhooks are installed, the other two
	// when they lead and have read everything. May be nil.
	Ready func(component string)
}

// withDefaults checks o and fills in what it leaves open.
func (o Options) withDefaults() (Options, error) {
	if o.Config == nil {
		return o, fmt.Errorf("options have no API server configuration")
	}
	if len(o.Components) == 0 {
		o.Components = Components()
	}
	for _, c := range o.Components {
		if !slices.Contains(Components(), c) {
			return o, fmt.Errorf("component %q is not known; known are %s", c, strings.Join(Components(), ", "))
		}
	}
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	setIfZero(&o.DefaultQueue, keys.DefaultQueue)
	setIfZero(&o.LeaseNamespace, Namespace)
	setIfZero(&o.LeaseDuration, 15*time.Second)
	setIfZero(&o.RenewDeadline, 10*time.Second)
	setIfZero(&o.RetryPeriod, 2*time.Second)
	setIfZero(&o.SchedulePeriod, time.Second)
	setIfZero(&o.Listing.Namespace, Namespace)
	if o.Ready == nil {
		o.Ready = func(string) {}
	}
	if len(o.Admission.SchedulerNames) == 0 {
		o.Admission.SchedulerNames = o.SchedulerNames
	}
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
