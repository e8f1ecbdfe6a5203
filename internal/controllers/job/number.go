package job

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// IDs allocates job numbers. It is implemented by jobid.Allocator.
type IDs interface {
	// Take returns the first of n consecutive numbers.
	Take(ctx context.Context, n int) (int64, error)
}

// unnumbered is how long a job continues without a number after an allocation has failed.
const unnumbered = time.Minute

// hasTakenNumber reports whether an older job has the same number as this one. Numbers are assigned on admission, so
// this can happen only if the number was copied while the webhook was not running.
func (r *Reconciler) hasTakenNumber(ctx context.Context, job *batchv1alpha1.Job) (bool, error) {
	id, ok := batchv1alpha1.JobID(job)
	if !ok {
		return false, nil
	}
	var same batchv1alpha1.JobList
	err := r.cache.List(ctx, &same, client.MatchingFields{index.JobName: index.ReferenceValue(batchv1alpha1.JobReference{ID: id})}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return false, fmt.Errorf("jobs of number %d: %w", id, err)
	}
	for i := range same.Items {
		if isOlderJob(&same.Items[i], job) {
			return true, nil
		}
	}
	return false, nil
}

// isOlderJob reports whether a is older than b. Jobs that were created in the same second are ordered by UID.
func isOlderJob(a, b *batchv1alpha1.Job) bool {
	if a.UID == b.UID {
		return false
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.UID < b.UID
}

// assignJobNumber assigns a number to the job. If no number can be allocated, it records an event, and the job runs
// without a number.
func (a *application) assignJobNumber(ctx context.Context, w plan.NumberJob) error {
	id, err := a.ids.Take(ctx, w.Count)
	if err != nil {
		a.known.unnumbered = a.now().Add(unnumbered)
		a.recordEvent(plan.Event{Type: corev1.EventTypeWarning, Reason: jobIDError, Message: "The job continues without a number: " + err.Error()})
		a.requeueAfter(time.Millisecond)
		return nil //nolint:nilerr // the event reports the error, and the job can run without a number
	}
	update := a.job.DeepCopy()
	if was, ok := batchv1alpha1.JobID(update); ok {
		if update.Annotations == nil {
			update.Annotations = map[string]string{}
		}
		update.Annotations[keys.JobIDWas] = batchv1alpha1.FormatJobID(was)
	}
	batchv1alpha1.SetJobID(update, id)
	return a.patchJob(ctx, update, "number")
}

// requeueAfter requests another reconcile after d, unless an earlier one is already requested.
func (a *application) requeueAfter(d time.Duration) {
	if a.later == 0 || d < a.later {
		a.later = d
	}
}
