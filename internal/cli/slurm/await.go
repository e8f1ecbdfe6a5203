package slurm

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/usererror"
)

// waitForEnd waits until a job has ended and returns its exit status: the exit code of the script, the highest exit
// code of an array, or 1 if a signal ended the job.
func (c *call) waitForEnd(ctx context.Context, job *batchv1alpha1.Job) error {
	cl, err := c.retryingClient()
	if err != nil {
		return err
	}
	ended, err := waitForJobEnd(ctx, cl, job, c.warnOnce(job))
	if err != nil {
		return err
	}
	code := c.endExitCode(ctx, cl, ended)
	if code == 0 {
		return nil
	}
	return cli.ExitStatus(code)
}

// retryingClient returns a client for commands that wait. If the API server is unavailable, the client retries for some
// minutes and prints one warning. With -Q, retryingClient returns an ordinary client, because waitForJob retries as
// well.
func (c *call) retryingClient() (client.WithWatch, error) {
	cl, err := c.f.Client()
	if err != nil || c.parsed.Has("quiet") {
		return cl, err
	}
	return c.f.RetryingClient(cl), nil
}

// warnOnce returns a function that warns the user that a job cannot be read. It prints the warning only once.
func (c *call) warnOnce(job *batchv1alpha1.Job) func(error) {
	told := false
	return func(err error) {
		if !told {
			told = true
			c.printNotef("warning", "job %s cannot be read now, still waiting for it: %v", numberOrName(job), err)
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

// waitForJobEnd watches a job until it has ended. A suspended job has not ended.
func waitForJobEnd(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, trouble func(error)) (*batchv1alpha1.Job, error) {
	return waitForJob(ctx, cl, job, func(now *batchv1alpha1.Job) bool {
		switch now.Status.State.Phase {
		case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
			return true
		}
		return false
	}, trouble)
}

// waitForJob watches a job until over returns true. Because API servers can restart, it calls trouble for each error
// and continues. It returns an error only if the job was deleted, if the user may not read it, or if a client
// returned by retryingClient gave up.
func waitForJob(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, over func(*batchv1alpha1.Job) bool, trouble func(error)) (*batchv1alpha1.Job, error) {
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
		case apierrors.IsNotFound(err) || err == nil && now.UID != job.UID:
			return nil, usererror.Errorf("submit it again", "job %s was deleted", numberOrName(job))
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

// endExitCode returns the exit code that represents the end of a job.
func (c *call) endExitCode(ctx context.Context, cl client.Client, job *batchv1alpha1.Job) int {
	facts := state.Facts{Job: job, Now: c.f.Now()}
	if parts, isArray := state.ElementParts(facts); isArray {
		code := 0
		for _, part := range parts {
			if part.State.Code != state.Completed {
				code = max(code, exitCode(part.Exit), 1)
			}
		}
		return code
	}
	pods := &corev1.PodList{}
	if err := cl.List(ctx, pods, client.InNamespace(job.Namespace), client.MatchingLabels{keys.JobName: job.Name}); err == nil {
		all := make([]*corev1.Pod, len(pods.Items))
		for i := range pods.Items {
			all[i] = &pods.Items[i]
		}
		facts.Pods = state.SummarizePods(all)
	}
	if state.Of(facts).Code == state.Completed {
		return 0
	}
	if facts.Pods == nil {
		return 1
	}
	return max(exitCode(facts.Pods.Exit), 1)
}

// exitCode returns the exit code of e, or 1 for a signal.
func exitCode(e state.Exit) int {
	if e.Signal > 0 {
		return 1
	}
	return e.Code
}
