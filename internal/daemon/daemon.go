package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/admission"
)

// adoptLog sends controller-runtime's log to klog, like all other logs. It does so once per process.
var adoptLog = sync.OnceFunc(func() { ctrllog.SetLogger(klog.Background()) })

// Run runs the components until ctx is done or one of them fails. If ctx is done, Run returns nil after all components
// have stopped.
func Run(ctx context.Context, o Options) error {
	o, err := o.withDefaults()
	if err != nil {
		return err
	}
	adoptLog()
	log := klog.FromContext(ctx)
	o.Config = rest.CopyConfig(o.Config)
	o.Config.QPS, o.Config.RateLimiter = -1, nil
	o.pressure = watchPressure(o.Config)
	if err := o.newJobIDAllocator(); err != nil {
		return err
	}

	h := newHealth(o.Components)
	tell := o.Ready
	o.Ready = func(component string) {
		h.markStarted(component)
		returnStartMemory()
		log.Info("Component is ready", "component", component)
		tell(component)
	}
	group, ctx := errgroup.WithContext(ctx)
	if err := serveEndpoints(ctx, group, &o, h); err != nil {
		return err
	}
	group.Go(func() error { return runComponents(ctx, &o, h, log) })
	return group.Wait()
}

// serveEndpoints starts the endpoints in the options. If it fails, only listeners have been started, and they end with
// the process.
func serveEndpoints(ctx context.Context, group *errgroup.Group, o *Options, h *health) error {
	if o.MetricsAddress != "" {
		run, err := listenAndServe(o.MetricsAddress, "metrics", "--listen-address", metricsHandler(o.Pprof))
		if err != nil {
			return err
		}
		group.Go(func() error { return run(ctx) })
	}
	if o.HealthAddress != "" {
		run, err := listenAndServe(o.HealthAddress, "health", "--healthz-address", h.newHandler())
		if err != nil {
			return err
		}
		group.Go(func() error { return run(ctx) })
	}
	return nil
}

func runComponents(ctx context.Context, o *Options, h *health, log logr.Logger) error {
	if err := waitForKinds(ctx, o.Config, log); err != nil {
		return err
	}
	if slices.Contains(o.Components, Scheduler) {
		// This runs before admission starts, so that the first job finds its queue. If it fails now, the scheduler's
		// term tries again.
		if err := ensureQueues(ctx, o, 1, log); err != nil {
			log.V(1).Info("The queues cannot be created yet", "reason", err.Error())
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, component := range o.Components {
		log := log.WithName(component)
		if o.LeaderElect && component != Admission {
			h.markStarted(component) // a component that is waiting for leadership counts as started
		}
		group.Go(func() error {
			var err error
			switch component {
			case Scheduler:
				err = runScheduler(ctx, o, h, log)
			case Controllers:
				err = runControllers(ctx, o, log)
			case Admission:
				err = runAdmission(ctx, o)
			case Accounting:
				err = runAccounting(ctx, o, log)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", component, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// admissionOptions returns the options for admission. There may be several replicas behind a URL, so they share their
// certificate in the namespace of the leases.
func admissionOptions(o *Options) admission.Options {
	options := o.Admission
	if options.URL != "" && options.SecretNamespace == "" {
		options.SecretNamespace = o.LeaseNamespace
	}
	if options.RecordNamespace == "" {
		options.RecordNamespace = o.LeaseNamespace
	}
	return options
}

func runAdmission(ctx context.Context, o *Options) error {
	options := admissionOptions(o)
	ready := options.Ready
	options.Ready = func() {
		if ready != nil {
			ready()
		}
		o.Ready(Admission)
	}
	return admission.Run(ctx, o.Config, options)
}

// hintForAPIError returns a hint for an error from the API server, which may mean that the kinds are not installed or
// that the server cannot be reached.
func hintForAPIError(err error) string {
	if apierrors.IsNotFound(err) {
		return "install the CRDs first: kubectl apply -f deploy/install.yaml"
	}
	return "check --kubeconfig and --master, and use kubectl version to check that the API server is reachable"
}

const (
	kindsTries = 600
	kindsPause = 100 * time.Millisecond
)

// waitForKinds waits until the API server serves this project's kinds. During an installation, the kinds may be created
// after this process starts.
func waitForKinds(ctx context.Context, config *rest.Config, log logr.Logger) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("client for discovery: %w", err)
	}
	groups := []string{
		schedulingv1beta1.GroupVersion.String(), batchv1alpha1.GroupVersion.String(), busv1alpha1.GroupVersion.String(),
	}
	for try := range kindsTries {
		var missing string
		for _, g := range groups {
			if _, err = client.ServerResourcesForGroupVersion(g); err != nil {
				missing = g
				break
			}
		}
		if missing == "" {
			return nil
		}
		if try == 0 {
			log.Info("Waiting for the API server to serve vc's custom resources", "group", missing, "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(kindsPause):
		}
		if try == kindsTries-1 {
			return withHint(fmt.Errorf("group %s: %w", missing, err), hintForAPIError(err))
		}
	}
	return nil
}
