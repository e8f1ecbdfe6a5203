package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/accounting/podmeasure"
	"github.com/vc-batch/vc/internal/accounting/spool"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

const (
	// reconcilers is the number of jobs that are recorded in parallel.
	reconcilers = 16
	// fullPause is the delay before a record is appended again to a spool that was full.
	fullPause = 5 * time.Second
	// openPause is the delay before a record is tried again while pods of an earlier attempt still run, and openPatience how
	// long it waits for them. Usually, the end of the last pod comes first.
	openPause    = 5 * time.Second
	openPatience = 2 * time.Minute
)

// Options configures the controller.
type Options struct {
	// Cache is kept up to date by watches and has the index PodController of package index. Objects are read without being
	// copied, because every change of a pod reads its job, so they must not be changed.
	Cache client.Reader
	// API does all writes.
	API client.Client
	// Cluster is the name of the cluster in the records.
	Cluster string
	Spool   *spool.Spool
	// Tracker keeps the use of pods until it is recorded.
	Tracker *podmeasure.Tracker
}

// Reconciler records the attempts of jobs.
type Reconciler struct {
	Options
	mu sync.Mutex
	// next holds the number of the next attempt to append to the spool, by the UID of the job.
	next map[types.UID]int32
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler { return &Reconciler{Options: o, next: map[types.UID]int32{}} }

// Controller returns the controller that records jobs.
func Controller(o Options) registration.Controller {
	r := New(o)
	options, observed := backoff.ControllerOptions(reconcilers, r)
	return registration.Controller{
		Name: "accounting-controller", Kind: &batchv1alpha1.Job{}, Predicates: []predicate.Predicate{relevantChanges()},
		Watches: []registration.Watch{
			{Kind: &corev1.Pod{}, Handler: r.podHandler()},
			{Kind: &batchv1alpha1.Job{}, Handler: r.deletedJobHandler()},
		},
		Reconciler: observed, Options: options,
	}
}

// relevantChanges accepts the changes of jobs whose attempt is over, that were restarted, or that lack the finalizer.
func relevantChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isJob := e.ObjectOld.(*batchv1alpha1.Job)
		job, ok := e.ObjectNew.(*batchv1alpha1.Job)
		if !isJob || !ok {
			return false
		}
		wasRestarted := before.Attempt() != job.Attempt()
		return extract.IsAttemptOver(job) || wasRestarted || !hasFinalizer(job)
	}}
}

func hasFinalizer(job *batchv1alpha1.Job) bool { return slices.Contains(job.Finalizers, keys.Recorded) }

// Reconcile appends the records of a job to the spool if its attempt is over, and maintains the job's finalizer.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	job := &batchv1alpha1.Job{}
	if err := r.Cache.Get(ctx, request.NamespacedName, job, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := r.addFinalizer(ctx, job); err != nil {
		return reconcile.Result{}, err
	}
	isWaiting, err := r.recordAttempts(ctx, job)
	switch {
	case errors.Is(err, spool.ErrFull):
		return reconcile.Result{RequeueAfter: fullPause}, nil
	case isWaiting:
		return reconcile.Result{RequeueAfter: openPause}, nil
	case err != nil:
		return reconcile.Result{}, err
	case job.DeletionTimestamp == nil:
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, r.removeFinalizer(ctx, job)
}

// firstAttemptToRecord returns the number of the first attempt that this process has not appended to the spool.
func (r *Reconciler) firstAttemptToRecord(job *batchv1alpha1.Job) int32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next[job.UID]
}

// recordAttempts appends the records of a job's attempts to the spool that it has not appended before. isWaiting is true if pods
// of an earlier attempt are still being stopped, so that their use may grow.
func (r *Reconciler) recordAttempts(ctx context.Context, job *batchv1alpha1.Job) (isWaiting bool, err error) {
	from, after := r.firstAttemptToRecord(job), job.Attempt()
	isOver := extract.IsAttemptOver(job)
	if isOver {
		after++
	}
	if from >= after {
		return false, nil
	}
	pods, err := r.podsOf(ctx, job)
	if err != nil {
		return false, err
	}
	for _, pod := range pods {
		r.Tracker.Observe(job, pod, time.Now())
	}
	if r.waitsForPods(job) {
		return true, nil
	}
	in := extract.Input{Cluster: r.Cluster, Job: job, Uses: r.Tracker.UsesOf(job.UID)}
	if isOver {
		in.Pods = pods
	}
	records, err := extract.Records(in, from)
	if err != nil {
		return false, err
	}
	if err := r.Spool.Append(accounting.Batch{Records: records}); err != nil {
		return false, err
	}
	recordedAttempts.Add(float64(len(records)))
	r.Tracker.ForgetAttempts(job.UID, after)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next[job.UID] = after
	return false, nil
}

// podsOf returns the existing pods of a job, by age. The index knows only the UID of a controller. Pods whose controller has
// this UID but another kind or name are not pods of the job: policies do not prevent users from creating them.
func (r *Reconciler) podsOf(ctx context.Context, job *batchv1alpha1.Job) ([]*corev1.Pod, error) {
	var list corev1.PodList
	ofController := client.MatchingFields{index.PodController: string(job.UID)}
	if err := r.Cache.List(ctx, &list, client.InNamespace(job.Namespace), ofController, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("pods of job %s/%s: %w", job.Namespace, job.Name, err)
	}
	pods := make([]*corev1.Pod, 0, len(list.Items))
	for i := range list.Items {
		if podmeasure.BelongsTo(&list.Items[i], job) {
			pods = append(pods, &list.Items[i])
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return index.CompareAge(a, b) })
	return pods, nil
}

// addFinalizer adds the finalizer to a job that lacks it. The API server rejects new finalizers of a job that is being
// deleted, and a job that has ended is about to be recorded.
func (r *Reconciler) addFinalizer(ctx context.Context, job *batchv1alpha1.Job) error {
	if hasFinalizer(job) || extract.IsAttemptOver(job) {
		return nil
	}
	return r.patchFinalizers(ctx, job, append(slices.Clone(job.Finalizers), keys.Recorded))
}

// removeFinalizer removes the finalizer of a job that is being deleted. The job is gone soon after.
func (r *Reconciler) removeFinalizer(ctx context.Context, job *batchv1alpha1.Job) error {
	if hasFinalizer(job) {
		others := slices.DeleteFunc(slices.Clone(job.Finalizers), func(name string) bool { return name == keys.Recorded })
		if err := r.patchFinalizers(ctx, job, others); err != nil {
			return err
		}
	}
	r.forgetJob(job.UID)
	return nil
}

// forgetJob removes everything that is kept in memory about a job.
func (r *Reconciler) forgetJob(uid types.UID) {
	r.Tracker.ForgetJob(uid)
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.next, uid)
}

// patchFinalizers replaces the finalizers of a job. The resource version prevents it from overwriting the change of
// another program. A job that is gone is not an error.
func (r *Reconciler) patchFinalizers(ctx context.Context, job *batchv1alpha1.Job, finalizers []string) error {
	if finalizers == nil {
		finalizers = []string{}
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "finalizers": finalizers},
	})
	if err != nil {
		return err
	}
	target := &batchv1alpha1.Job{}
	target.Namespace, target.Name = job.Namespace, job.Name
	err = r.API.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("finalizers of job %s/%s: %w", job.Namespace, job.Name, err)
	}
	return nil
}

// OpenStore opens the database of the records.
type OpenStore func(ctx context.Context) (accounting.Store, error)
