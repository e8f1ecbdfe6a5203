package job

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// maxRelated limits the number of jobs that are read beyond the direct dependencies of a job. These jobs are needed
// only to find cycles. Direct dependencies are always read, because a missing job would be treated as deleted.
const maxRelated = 500

// relatedJobs returns the job itself, the jobs that it is waiting for, some of the jobs that those are waiting for, and
// the first job with the same title. It returns nil if the job is not waiting for other jobs.
func (r *Reconciler) relatedJobs(ctx context.Context, job *batchv1alpha1.Job) ([]*batchv1alpha1.Job, error) {
	if job.Annotations[keys.Dependency] == "" || !mayBeWaiting(job) {
		return nil, nil
	}
	c := collector{r: r, ctx: ctx, seen: map[types.UID]bool{job.UID: true}, most: math.MaxInt}
	c.found = append(c.found, job) // a cycle leads back to the job
	for i := 0; i < len(c.found) && len(c.found) < c.most; i++ {
		if err := c.followDependencies(c.found[i], i == 0); err != nil {
			return nil, err
		}
		if i == 0 {
			c.most = len(c.found) + maxRelated
		}
	}
	return c.found, nil
}

func isPendingJob(job *batchv1alpha1.Job) bool {
	return job.Status.State.Phase == "" || job.Status.State.Phase == batchv1alpha1.Pending
}

// mayBeWaiting reports whether other jobs can affect this job, because it has not started yet or because its array
// elements depend on elements of another job.
func mayBeWaiting(job *batchv1alpha1.Job) bool {
	if plan.IsEndedOrAborted(job.Status.State.Phase) {
		return false
	}
	return (isPendingJob(job) && !plan.HasEverStarted(job)) || strings.Contains(job.Annotations[keys.Dependency], string(batchv1alpha1.AfterCorr))
}

// collector gathers jobs without duplicates.
type collector struct {
	r     *Reconciler
	ctx   context.Context
	seen  map[types.UID]bool
	found []*batchv1alpha1.Job
	most  int // maximum number of jobs
}

// followDependencies adds the jobs that a job is waiting for.
func (c *collector) followDependencies(job *batchv1alpha1.Job, first bool) error {
	d, err := batchv1alpha1.DependencyOf(job)
	if err != nil || (!first && !isPendingJob(job)) {
		return nil //nolint:nilerr // the plan of that job reports the invalid annotation
	}
	for _, term := range d.Terms {
		switch {
		case term.Kind != batchv1alpha1.Singleton:
			err = c.addReferenced(job, term.Job)
		case first:
			err = c.addJobAhead(job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addReferenced adds the jobs that match a reference. It skips jobs in other namespaces unless the referring job is
// permitted to wait for jobs there; skipped jobs are treated as if they did not exist.
func (c *collector) addReferenced(by *batchv1alpha1.Job, reference batchv1alpha1.JobReference) error {
	jobs, err := c.listIndexedJobs(index.JobName, index.ReferenceValue(reference))
	for _, job := range jobs {
		if batchv1alpha1.MayAwait(by, job.Namespace) {
			c.addFoundJob(job)
		}
	}
	return err
}

// addJobAhead adds the job with the same title that the job must wait for.
func (c *collector) addJobAhead(job *batchv1alpha1.Job) error {
	jobs, err := c.listIndexedJobs(index.JobTitle, index.TitleValue(job))
	if other := plan.SingletonJobAhead(job, jobs); other != nil {
		c.addFoundJob(other)
	}
	return err
}

func (c *collector) addFoundJob(job *batchv1alpha1.Job) {
	if !c.seen[job.UID] && len(c.found) < c.most {
		c.seen[job.UID] = true
		c.found = append(c.found, job)
	}
}

// listIndexedJobs returns the jobs with this index value, oldest first.
func (c *collector) listIndexedJobs(name, value string) ([]*batchv1alpha1.Job, error) {
	var list batchv1alpha1.JobList
	if err := c.r.cache.List(c.ctx, &list, client.MatchingFields{name: value}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("jobs on which other jobs depend: %w", err)
	}
	jobs := make([]*batchv1alpha1.Job, len(list.Items))
	for i := range list.Items {
		jobs[i] = &list.Items[i]
	}
	slices.SortFunc(jobs, func(x, y *batchv1alpha1.Job) int {
		return cmp.Or(x.CreationTimestamp.Compare(y.CreationTimestamp.Time), cmp.Compare(x.UID, y.UID))
	})
	return jobs, nil
}

// isStillAwaited reports whether another job still depends on how this job ended. Until then, this job must not be
// deleted when its time to live has passed.
func (r *Reconciler) isStillAwaited(ctx context.Context, job *batchv1alpha1.Job) (bool, error) {
	if !plan.IsEndedOrAborted(job.Status.State.Phase) || job.Spec.TTLSecondsAfterFinished == nil {
		return false, nil
	}
	waiting, err := r.jobsWaitingFor(ctx, job)
	return slices.ContainsFunc(waiting, func(other *batchv1alpha1.Job) bool { return plan.DependsOnEnd(other, job) }), err
}

// jobsWaitingFor returns the jobs that are waiting for this job and refer to it by number, name or title.
func (r *Reconciler) jobsWaitingFor(ctx context.Context, job *batchv1alpha1.Job) ([]*batchv1alpha1.Job, error) {
	var waiting []*batchv1alpha1.Job
	for _, name := range index.AwaitedNamesOf(job) {
		var jobs batchv1alpha1.JobList
		if err := r.cache.List(ctx, &jobs, client.MatchingFields{index.JobAwaits: name}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("jobs that wait for job %s: %w", job.Name, err)
		}
		for i := range jobs.Items {
			other := &jobs.Items[i]
			if other.UID != job.UID && mayBeWaiting(other) && batchv1alpha1.MayAwait(other, job.Namespace) {
				waiting = append(waiting, other)
			}
		}
	}
	return waiting, nil
}

// dependentsHandler returns a handler for changes to a job's phase, number or finished elements. It enqueues the jobs
// that are waiting for the changed job.
func (r *Reconciler) dependentsHandler() handler.EventHandler {
	wake := func(ctx context.Context, o client.Object, q queue) {
		waiting, err := r.jobsWaitingFor(ctx, o.(*batchv1alpha1.Job))
		if err != nil {
			return // cannot happen: the cache is filled before events arrive
		}
		for _, other := range waiting {
			q.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			old, job := e.ObjectOld.(*batchv1alpha1.Job), e.ObjectNew.(*batchv1alpha1.Job)
			if old.Status.State.Phase != job.Status.State.Phase || old.Labels[keys.JobID] != job.Labels[keys.JobID] || elementsChanged(old, job) {
				wake(ctx, job, q)
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, e.Object, q) },
	}
}

// elementsChanged reports whether the set of ended array elements has changed.
func elementsChanged(old, job *batchv1alpha1.Job) bool {
	was, is := old.Status.Array, job.Status.Array
	if was == nil || is == nil {
		return is != nil
	}
	return was.Succeeded != is.Succeeded || was.Failed != is.Failed || was.Cancelled != is.Cancelled
}
