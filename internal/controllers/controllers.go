package controllers

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/apiclient"
	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/internal/controllers/cronjob"
	"github.com/vc-batch/vc/internal/controllers/hypernode"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job"
	"github.com/vc-batch/vc/internal/controllers/jobflow"
	"github.com/vc-batch/vc/internal/controllers/jobtemplate"
	"github.com/vc-batch/vc/internal/controllers/podgroup"
	"github.com/vc-batch/vc/internal/controllers/queue"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// eventSource is the name of the component in events.
const eventSource = "vc-controller-manager"

// Options configures the controllers. The zero value is valid.
type Options struct {
	// SchedulerNames lists the schedulers whose pods the controllers manage; empty means volcano.
	SchedulerNames []string
	// JobReconcilers is the number of jobs reconciled in parallel; 0 means 16.
	JobReconcilers int
	// CronJobReconcilers is the number of CronJobs reconciled in parallel; 0 means 3.
	CronJobReconcilers int
	// OwnersKeepAnnotations prevents PodGroups from inheriting the annotations of the workloads that own their pods.
	OwnersKeepAnnotations bool
	// Writers is the maximum number of pod writes in flight for all jobs together; 0 means 64.
	Writers int
	// NewWriteGroup returns a group in which the pod writes of one reconcile run in parallel; nil means goroutines.
	NewWriteGroup func() job.Group
	// QPS is the maximum number of requests per second from the controllers; 0 means that only the API server limits
	// them.
	QPS float32
	// Pressure throttles writes that are purely informational, such as counters, in favor of writes that other
	// components or users are waiting for; nil means no throttling.
	Pressure *backpressure.Throttle
	// JobIDs assigns numbers to jobs that did not get one on admission; nil means that they remain without a number.
	JobIDs job.IDs
	// MaxRequeue is how many times a write that the API server considers invalid is retried before the job is
	// terminated. 0 means job.DefaultMaxRequeue; a negative value means no limit.
	MaxRequeue int
	// PerJobMetrics adds series for individual jobs to the metrics.
	PerJobMetrics bool
	// Traces receives the traces of jobs that have ended; nil means that no traces are computed.
	Traces job.Traces
	// Selection selects the controllers to run; the zero value selects all.
	Selection Selection
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// All returns the selected controllers. cache is kept up to date by the watches of the controllers and has the indexes
// of package index. api does all writes, and reads without the cache.
func All(cache client.Reader, api client.Client, recorder record.EventRecorder, o Options) []registration.Controller {
	if len(o.SchedulerNames) == 0 {
		o.SchedulerNames = []string{keys.DefaultSchedulerName}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	jobReconcilers := cmp.Or(o.JobReconcilers, 16)
	isEnabled := o.Selection.IsEnabled
	var all []registration.Controller
	if isEnabled(jobController) {
		all = append(all, job.Controller(job.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: jobReconcilers, Writers: cmp.Or(o.Writers, 64),
			NewWriteGroup: o.NewWriteGroup, Pressure: o.Pressure, IDs: o.JobIDs, KeepEnded: !isEnabled(gcController), MaxRequeue: o.MaxRequeue, PerJobMetrics: o.PerJobMetrics, Traces: o.Traces, Now: o.Now}))
	}
	if isEnabled(podGroupController) {
		all = append(all, podgroup.Controllers(podgroup.Options{Cache: cache, API: api, Recorder: recorder, Schedulers: o.SchedulerNames, Reconcilers: jobReconcilers,
			OwnersKeepAnnotations: o.OwnersKeepAnnotations})...)
	}
	if isEnabled(queueController) {
		all = append(all, queue.Controller(queue.Options{Cache: cache, API: api, Recorder: recorder, Now: o.Now, Deleted: job.DeleteQueueMetrics}))
	}
	if isEnabled(cronJobController) {
		all = append(all, cronjob.Controller(cronjob.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: cmp.Or(o.CronJobReconcilers, 3), Now: o.Now}))
	}
	if isEnabled(jobFlowController) {
		all = append(all, jobflow.Controller(jobflow.Options{Cache: cache, API: api, Recorder: recorder, Reconcilers: 3, Now: o.Now}))
	}
	if isEnabled(jobTemplateController) {
		all = append(all, jobtemplate.Controller(jobtemplate.Options{Cache: cache, API: api}))
	}
	if isEnabled(hyperNodeController) {
		all = append(all, hypernode.Controller(hypernode.Options{Cache: cache, API: api, Recorder: recorder, ConfigMap: hypernode.ConfigMapName(), Now: o.Now}))
	}
	return all
}

// Add registers the selected controllers with a manager. The manager's scheme must contain Kubernetes' kinds and the
// kinds of this project, and its cache should use CacheOptions. The controllers start when the manager is started and
// becomes the leader.
func Add(mgr manager.Manager, o Options) error {
	if err := index.RegisterAll(context.Background(), mgr.GetFieldIndexer()); err != nil {
		return err
	}
	api, err := newClient(mgr, o.QPS)
	if err != nil {
		return err
	}
	// Clients of Volcano look for the component name in events of the old API.
	recorder := mgr.GetEventRecorderFor(eventSource) //nolint:staticcheck // see above
	for _, c := range All(mgr.GetCache(), api, recorder, o) {
		if err := c.AddTo(mgr); err != nil {
			return err
		}
	}
	return nil
}

// newClient returns the controllers' own client. It does not read from the cache and is not subject to the rate limit
// of the manager's client.
func newClient(mgr manager.Manager, qps float32) (client.Client, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.RateLimiter = nil
	config.QPS, config.Burst = -1, 0
	if qps > 0 {
		config.QPS, config.Burst = qps, int(2*qps)
	}
	c, err := client.New(config, client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("client for the controllers: %w", err)
	}
	return apiclient.NewMetadataClient(c, config)
}
