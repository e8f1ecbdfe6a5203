package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/backpressure"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Reasons for events about pods and about the job's number.
const (
	failedCreate = "FailedCreate"
	failedDelete = "FailedDelete"
	jobIDError   = "JobIDError"
)

// DefaultMaxRequeue is the default number of consecutive writes rejected as invalid after which a job is terminated.
// After other errors, writes are retried forever.
const DefaultMaxRequeue = 15

// Delays before a retry if the obstacle is expected to disappear soon. The delay doubles with each consecutive retry, because
// a pod of an older job with the same name may take as long as its grace period to end.
const (
	firstSoonDelay   = 200 * time.Millisecond
	longestSoonDelay = 5 * time.Second
)

// Options configures the controller.
type Options struct {
	Cache       client.Reader // is kept up to date by watches
	API         client.Client // does not use the cache; does all writes
	Recorder    record.EventRecorder
	Reconcilers int // number of jobs reconciled in parallel
	Writers     int // maximum number of pod writes in flight for all jobs together, at least 1
	// NewWriteGroup returns a group in which the pod writes of one reconcile run in parallel; nil means goroutines.
	NewWriteGroup func() Group
	Pressure      *backpressure.Throttle
	IDs           IDs  // allocates numbers for jobs without one; may be nil
	KeepEnded     bool // ignore ttlSecondsAfterFinished
	// MaxRequeue is the maximum number of attempts for a write that the API server considers invalid; 0 means
	// DefaultMaxRequeue, and a negative value means no limit.
	MaxRequeue int
	// PerJobMetrics adds series for individual jobs to the metrics.
	PerJobMetrics bool
	Traces        Traces // receives the traces of ended jobs; nil means that no traces are computed
	Now           func() time.Time
}

// Reconciler computes and carries out the plans of jobs.
type Reconciler struct {
	cache    client.Reader
	api      client.Client
	recorder record.EventRecorder
	writers  pool
	states   *stateStore
	pressure *backpressure.Throttle
	ids      IDs
	keep     bool
	now      func() time.Time
	started  time.Time
	began    beginning
	// maxRequeue is Options.MaxRequeue or, if that is 0, the default.
	maxRequeue int
	series     *jobSeries // nil without metrics per job
	traces     Traces     // nil without traces
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	jobMetrics.Register()
	r := &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, writers: newPool(o.Writers, o.NewWriteGroup), states: newStateStore(), pressure: o.Pressure, ids: o.IDs, now: o.Now,
		keep: o.KeepEnded, started: o.Now(), maxRequeue: cmp.Or(o.MaxRequeue, DefaultMaxRequeue), traces: o.Traces}
	if o.PerJobMetrics {
		r.series = newJobSeries()
	}
	return r
}

// Controller returns the job controller.
func Controller(o Options) registration.Controller { return New(o).controller(o.Reconcilers) }

// controller describes the controller of this reconciler.
func (r *Reconciler) controller(reconcilers int) registration.Controller {
	options, observed := backoff.ControllerOptions(reconcilers, r)
	return registration.Controller{
		Name: "job-controller",
		Kind: &batchv1alpha1.Job{},
		Watches: []registration.Watch{
			{Kind: &corev1.Pod{}, Handler: r.podHandler()},
			{Kind: &schedulingv1beta1.PodGroup{}, Handler: groupHandler()},
			{Kind: &batchv1alpha1.Job{}, Handler: r.dependentsHandler()},
			{Kind: &busv1alpha1.Command{}, Handler: handler.EnqueueRequestsFromMapFunc(requestsForCommand)},
		},
		Reconciler: observed,
		Options:    options,
	}
}

// Reconcile reads a job, computes its plan and carries it out.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	job := &batchv1alpha1.Job{}
	// A deep copy is not necessary, because plans do not change the job.
	if err := r.cache.Get(ctx, request.NamespacedName, job, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			r.series.deleteSeries(request.NamespacedName)
			if err := r.forgetCommands(ctx, request.NamespacedName); err != nil {
				return reconcile.Result{}, err
			}
			return reconcile.Result{}, r.sweepObjects(ctx, request.NamespacedName)
		}
		return reconcile.Result{}, fmt.Errorf("job %s: %w", request.Name, err)
	}
	known := r.states.ensureState(request.NamespacedName, job.UID)
	if job.DeletionTimestamp != nil {
		// The garbage collector deletes the job's objects, and listing the pods after each deletion would take time
		// quadratic in their number.
		return reconcile.Result{}, nil
	}
	now := r.now()
	if known.isOutdated(job.ResourceVersion, now) {
		return reconcile.Result{RequeueAfter: 5 * time.Millisecond}, nil
	}
	in, err := r.readPlanInput(ctx, job, known, now) // 1. Read the state.
	if err != nil {
		return reconcile.Result{}, err
	}
	p := plan.Compute(in) // 2. Decide.
	if p.Refresh {
		if err := r.refreshInput(ctx, &in); err != nil {
			return reconcile.Result{}, err
		}
		p = plan.Compute(in)
	}
	return r.carryOutPlan(ctx, &in, &p, known) // 3. Act.
}

// carryOutPlan carries out a plan, up to the first write that fails.
func (r *Reconciler) carryOutPlan(ctx context.Context, in *plan.Input, p *plan.Plan, known *jobState) (reconcile.Result, error) {
	a := &application{Reconciler: r, job: in.Job, in: in, plan: p, known: known}
	a.plugins, _ = plugin.For(p.Job) // the plan contains the errors of the plugins
	known.since = p.Since
	for _, w := range p.Writes {
		if err := a.performWrite(ctx, w); err != nil {
			return a.handleFailure(ctx, err)
		}
	}
	known.trouble, known.rejected, known.conflicts, known.soonDelay = nil, 0, 0, 0
	known.dropAnsweredLost(p.Answered)
	known.dropReports(p.Reported)
	if p.Entered != "" && !a.putOff {
		r.countPhaseEntry(p.Job, p.Entered)
		log.FromContext(ctx).V(1).Info("Job entered a phase", "phase", p.Entered, "retries", a.job.Status.RetryCount)
	}
	for _, e := range p.Events {
		a.recordEvent(e)
	}
	if wait, ok := known.createdPodsExpireAfter(in.Now); ok {
		a.requeueAfter(wait)
	}
	result := reconcile.Result{RequeueAfter: p.RequeueAfter}
	if a.later > 0 && (result.RequeueAfter == 0 || a.later < result.RequeueAfter) {
		result.RequeueAfter = a.later
	}
	return result, nil
}

// maxConflicts is the number of consecutive conflicts that an outdated cache can explain. Further conflicts must have
// another cause, because quota admission can return conflicts, too.
const maxConflicts = 5

// handleFailure handles a write error. It records an event, unless the error is a conflict, which usually means that
// the cache is outdated.
func (a *application) handleFailure(ctx context.Context, err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) && a.known.conflicts < maxConflicts {
		a.known.conflicts++
		return reconcile.Result{RequeueAfter: coalesce}, nil
	}
	if passing := (passingError{}); errors.As(err, &passing) {
		log.FromContext(ctx).V(1).Info("Trying again in a moment", "why", err.Error())
		a.known.soonDelay = min(max(2*a.known.soonDelay, firstSoonDelay), longestSoonDelay)
		return reconcile.Result{RequeueAfter: a.known.soonDelay}, nil
	}
	if ctx.Err() != nil {
		return reconcile.Result{}, err
	}
	if isRejected(err) {
		a.known.rejected++
	}
	var f *failure
	if errors.As(err, &f) {
		a.recordEvent(plan.Event{Type: corev1.EventTypeWarning, Reason: f.reason, Message: err.Error()})
		a.known.trouble = &plan.Trouble{Reason: f.reason, Message: err.Error(), Hopeless: a.maxRequeue > 0 && a.known.rejected >= a.maxRequeue}
	}
	return reconcile.Result{}, err
}

// recordEvent records an event. It skips a warning whose message has not changed.
func (a *application) recordEvent(e plan.Event) {
	if e.Type == corev1.EventTypeWarning {
		if a.known.lastMessages[e.Reason] == e.Message {
			return
		}
		a.known.lastMessages[e.Reason] = e.Message
	}
	a.recorder.Event(a.job, e.Type, e.Reason, e.Message)
}

// sweepObjects deletes the pods and the PodGroup of a deleted job without waiting for the garbage collector, which may
// need half a minute to discover a new kind. It leaves objects that changed after the cache was updated to the garbage
// collector, because they may be meant to outlive the job.
func (r *Reconciler) sweepObjects(ctx context.Context, name types.NamespacedName) error {
	uid := r.states.dropState(name)
	if uid == "" {
		return nil
	}
	var pods corev1.PodList
	if err := r.cache.List(ctx, &pods, client.InNamespace(name.Namespace), client.MatchingFields{index.PodController: string(uid)}); err != nil {
		return fmt.Errorf("pods of job %s: %w", name.Name, err)
	}
	left := make([]client.Object, 0, len(pods.Items)+1)
	for i := range pods.Items {
		left = append(left, &pods.Items[i])
	}
	slices.SortFunc(left, func(x, y client.Object) int { return cmp.Compare(x.GetName(), y.GetName()) })
	var group schedulingv1beta1.PodGroup
	if r.cache.Get(ctx, types.NamespacedName{Namespace: name.Namespace, Name: name.Name + "-" + string(uid)}, &group) == nil {
		left = append(left, &group)
	}
	return r.writers.runParallel(ctx, len(left), func(i int) error {
		if left[i].GetDeletionTimestamp() != nil {
			return nil
		}
		id, version := left[i].GetUID(), left[i].GetResourceVersion()
		err := r.api.Delete(ctx, left[i], client.Preconditions{UID: &id, ResourceVersion: &version})
		if apierrors.IsConflict(err) {
			return nil
		}
		return client.IgnoreNotFound(err)
	})
}
