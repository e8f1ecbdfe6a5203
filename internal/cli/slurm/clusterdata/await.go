package clusterdata

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/usererror"
)

// RetryingClient returns a client for commands that wait for jobs. While the API server is unavailable, the client
// retries for several minutes and prints one warning. With -Q, RetryingClient returns an ordinary client, because
// WaitForJob itself also retries.
func RetryingClient(c *program.Call) (client.WithWatch, error) {
	cl, err := c.Factory.Client()
	if err != nil || c.Parsed.Has("quiet") {
		return cl, err
	}
	return c.Factory.RetryingClient(cl), nil
}

// WarnOnce returns a function that warns the user that a job cannot be read. It prints the warning only once.
func WarnOnce(c *program.Call, job *batchv1alpha1.Job) func(error) {
	told := false
	return func(err error) {
		if !told {
			told = true
			c.PrintNotef("warning", "job %s cannot currently be read; still waiting: %v", listrow.NumberOrName(job), err)
		}
	}
}

// isGivenUp reports whether an error means that the API server was unavailable for too long.
func isGivenUp(err error) bool {
	var human *usererror.Error
	return errors.As(err, &human) && human.Code == cli.ExitUnreachable
}

// longestPause is the longest delay between two attempts to reach an API server that does not respond.
const longestPause = 5 * time.Second

// WaitForJobEnd watches a job until it has ended. A suspended job does not count as ended.
func WaitForJobEnd(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, trouble func(error)) (*batchv1alpha1.Job, error) {
	return WaitForJob(ctx, cl, job, func(now *batchv1alpha1.Job) bool {
		switch now.Status.State.Phase {
		case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
			return true
		}
		return false
	}, trouble)
}

// WaitForJob watches a job until over returns true. Because API servers can restart, it calls trouble for each error
// and continues. It returns an error only if the job was deleted, if the user may not read it, or if a client
// returned by RetryingClient gave up.
func WaitForJob(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, over func(*batchv1alpha1.Job) bool, trouble func(error)) (*batchv1alpha1.Job, error) {
	wait, away := watchPause, false // a watch that starts now does not report an earlier deletion of the job
	for {
		if !away {
			if now, ok := watchUntil(ctx, cl, job, over); ok {
				return now, nil
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		now := &batchv1alpha1.Job{}
		err := cl.Get(ctx, client.ObjectKeyFromObject(job), now)
		away = err != nil
		switch {
		case apierrors.IsNotFound(err) || (err == nil && now.UID != job.UID):
			return nil, usererror.Errorf("submit it again", "job %s was deleted", listrow.NumberOrName(job))
		case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err), isGivenUp(err):
			return nil, err
		case err != nil:
			if ctx.Err() == nil {
				trouble(err)
			}
			wait = min(2*wait, longestPause)
		case over(now):
			return now, nil
		default:
			wait = watchPause
		}
		waitFor(ctx, wait)
	}
}

// watchPause is the delay before restarting a watch that failed or ended.
const watchPause = 250 * time.Millisecond

// WaitUntil waits until wanted returns true for a job, but no longer than patience.
func WaitUntil(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, patience time.Duration, wanted func(*batchv1alpha1.Job) bool) (now *batchv1alpha1.Job, ok bool) {
	if wanted(job) {
		return job, true
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ctx.Err() == nil {
		if now, ok := watchUntil(ctx, cl, job, wanted); ok {
			return now, true
		}
		now := &batchv1alpha1.Job{}
		if err := cl.Get(ctx, client.ObjectKeyFromObject(job), now); err == nil && now.UID == job.UID && wanted(now) {
			return now, true
		}
		waitFor(ctx, watchPause)
	}
	return nil, false
}

// waitFor waits for a duration, or until the context is done.
func waitFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// watchUntil watches one job until wanted returns true. ok is false if the watch ends first or the job is deleted.
func watchUntil(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, wanted func(*batchv1alpha1.Job) bool) (now *batchv1alpha1.Job, ok bool) {
	w, err := cl.Watch(ctx, &batchv1alpha1.JobList{}, client.InNamespace(job.Namespace), client.MatchingFields{"metadata.name": job.Name})
	if err != nil {
		return nil, false
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		now, is := event.Object.(*batchv1alpha1.Job)
		switch {
		case !is || now.UID != job.UID:
		case wanted(now):
			return now, true
		case event.Type == watch.Deleted:
			return nil, false
		}
	}
	return nil, false
}
