package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/cronjob"
	"github.com/vc-batch/vc/internal/controllers/hypernode"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job"
	"github.com/vc-batch/vc/internal/controllers/jobflow"
	"github.com/vc-batch/vc/internal/controllers/jobtemplate"
	"github.com/vc-batch/vc/internal/controllers/podgroup"
	"github.com/vc-batch/vc/internal/controllers/queue"
	"github.com/vc-batch/vc/internal/governor"
)

// eventSource is the component that events name.
const eventSource = "vc-controller-manager"

// Options of the controllers; the zero value is good.
type Options struct {
	// SchedulerNames are the schedulers whose pods are ours; empty means volcano.
	SchedulerNames []string
	// JobReconcilers is how many jobs are reconciled at once; 0 means 16.
	JobReconcilers int
	// CronJobReconcilers is how many CronJobs are reconciled at once; 0 means 3.
	CronJobReconcilers int
	// OwnersKeepAnnotations says that PodGroups get no annotations of the workloads whose pods they hold.
	OwnersKeepAnnotations bool
	// Writers is how many writes of pods are in flight at once, all jobs together; 0 means 64.
	Writers int
	// QPS bounds the requests a second of the controllers; 0 means that only the API server bounds them.
	QPS float32
	// Pressure says when what only informs gives way to what others wait for; nil means never.
	Pressure *governor.Governor
	// JobIDs numbers jobs that admission has not; nil: nobody does.
	JobIDs job.IDs
	// MaxRequeue is how often what the API server finds invalid is tried before the job is terminated; 0 means job.DefaultMaxRequeue, less: for ever.
	MaxRequeue int
	// Selection says which controllers run; the zero value: all.
	Selection Selection
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Add registers the controllers that are selected with a manager. Its scheme must hold the kinds of Kubernetes and ours, its cache should be made with
// CacheOptions. They start with the manager, when it leads.
func Add(mgr manager.Manager, o Options) error {
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := index.Register(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	api, err := newClient(mgr, o.QPS)
	if err != nil {
		return err
	}
	// Volcano's clients look for the component in the events of the old API.
	recorder := mgr.GetEventRecorderFor(eventSource) //nolint:staticcheck // see above
	reconcilers := cmp.Or(o.JobReconcilers, 16)
	cache := mgr.GetCache()
	for _, c := range []struct {
		name string
		add  func() error
	}{
		{jobController, func() error {
			return job.Add(mgr, job.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: reconcilers, Writers: cmp.Or(o.Writers, 64),
				Pressure: o.Pressure, IDs: o.JobIDs, KeepEnded: !o.Selection.On(gcController), MaxRequeue: o.MaxRequeue, Now: o.Now})
		}},
		{podGroupController, func() error {
			return podgroup.Add(mgr, podgroup.Options{Cache: cache, API: api, Recorder: recorder, Schedulers: o.SchedulerNames, Reconcilers: reconcilers,
				OwnersKeepAnnotations: o.OwnersKeepAnnotations})
		}},
		{queueController, func() error {
			return queue.Add(mgr, queue.Options{Cache: cache, API: api, Recorder: recorder})
		}},
		{cronJobController, func() error {
			return cronjob.Add(mgr, cronjob.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: cmp.Or(o.CronJobReconcilers, 3), Now: o.Now})
		}},
		{jobFlowController, func() error {
			return jobflow.Add(mgr, jobflow.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: 3, Now: o.Now})
		}},
		{jobTemplateController, func() error {
			return jobtemplate.Add(mgr, jobtemplate.Options{Cache: cache, API: api})
		}},
		{hyperNodeController, func() error {
			return hypernode.Add(mgr, hypernode.Options{Cache: cache, API: api, Recorder: recorder, ConfigMap: hypernode.ConfigMapName(), Now: o.Now})
		}},
	} {
		if !o.Selection.On(c.name) {
			continue
		}
		if err := c.add(); err != nil {
			return err
		}
	}
	return nil
}

// newClient is a client of the controllers' own: it reads past the cache, and no limit of the manager's client slows it down.
func newClient(mgr manager.Manager, qps float32) (client.Client, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.RateLimiter = nil
	config.QPS, config.Burst = -1, 0
	if qps > 0 {
		config.QPS, config.Burst = qps, int(2*qps)
	}
	c, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("client of the controllers: %w", err)
	}
	return newLean(c, config)
}
