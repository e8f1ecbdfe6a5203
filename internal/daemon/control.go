package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/vc-batch/vc/api"

	"github.com/vc-batch/vc/internal/controllers"
	"github.com/vc-batch/vc/internal/joblist"
	"github.com/vc-batch/vc/internal/traceexport"
)

const (
	controllersLease = "vc-controller-manager"
	drainTime        = 10 * time.Second
)

// newScheme returns a scheme with Kubernetes' kinds and this project's kinds.
func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(s); err != nil {
			panic(fmt.Sprintf("cannot register the API kinds: %v", err)) // a programming error
		}
	}
	return s
}

// runControllers runs the controllers, one term of leadership after the other, and serves job lists from their caches.
func runControllers(ctx context.Context, o *Options, log logr.Logger) error {
	lists := &joblist.Source{}
	traces, err := traceexport.New(ctx, traceexport.Options{Endpoint: o.OTLPEndpoint, Log: log})
	if err != nil {
		return err
	}
	if traces != nil {
		o.Controllers.Traces = traces
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		traces.Run(ctx)
		return nil
	})
	group.Go(func() error {
		if o.Listing.ListenAddress != "" {
			return joblist.Run(ctx, o.Config, o.Listing, lists)
		}
		if err := joblist.Group.RemoveRegistration(ctx, o.Config); err != nil {
			log.V(1).Info("Could not check whether the API for job lists is still registered", "reason", err.Error())
		}
		return nil
	})
	group.Go(func() error {
		var once sync.Once
		return runTermsUntilDone(ctx, o, controllersLease, log, func(ctx context.Context, fence func() error) error {
			return runManagerTerm(ctx, o, fence, log, lists, func() { once.Do(func() { o.Ready(Controllers) }) })
		})
	})
	return group.Wait()
}

// runManagerTerm runs one manager, whose caches start empty. The term ends as soon as a write fails because the fence
// is closed.
func runManagerTerm(ctx context.Context, o *Options, fence func() error, log logr.Logger, lists *joblist.Source, ready func()) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	mgr, err := newControlManager(fencedConfig(o.Config, fence, end), o.Controllers.Traces != nil, log)
	if err != nil {
		return err
	}
	options := o.Controllers
	options.Pressure = o.pressure
	if err := controllers.Add(mgr, options); err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return nil
		}
		ready()
		if o.Listing.ListenAddress == "" {
			return nil
		}
		if err := lists.ServeFromCache(ctx, mgr.GetCache(), mgr.GetAPIReader()); err != nil {
			log.Error(err, "Job lists are not served from the cache")
		}
		return nil
	}))
	if err != nil {
		return fmt.Errorf("controller manager: %w", err)
	}
	if err := mgr.Start(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("controller manager: %w", err)
	}
	return nil
}

// newControlManager creates the controller manager for one term of leadership. All its clients use config. If it traces
// jobs, its cache contains the times that traces need.
func newControlManager(config *rest.Config, isTracing bool, log logr.Logger) (manager.Manager, error) {
	cache, err := controllers.CacheOptions(config, isTracing)
	if err != nil {
		return nil, fmt.Errorf("cache for the controllers: %w", err)
	}
	mgr, err := manager.New(config, manager.Options{
		Scheme: newScheme(),
		Logger: log,
		Cache:  cache,
		// The daemon has its own endpoints and its own leader election.
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress:  "0",
		GracefulShutdownTimeout: ptr.To(drainTime),
		// A second term in the same process registers the same names again.
		Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return nil, fmt.Errorf("controller manager: %w", err)
	}
	return mgr, nil
}
