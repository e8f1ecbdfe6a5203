package run

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/cli/job/stream"
	"github.com/vc-batch/vc/internal/cli/job/wait"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// waitUntilEnd waits until the created jobs have ended and returns their outcome. With --attach, it also prints the
// output of their pods.
func (o *runOptions) waitUntilEnd(ctx context.Context, created []cli.FileObject) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	c = o.f.RetryingClient(c)
	limited, cancel := o.wait.LimitContext(ctx)
	defer cancel()
	var problems []error
	for _, object := range created {
		job, isJob, err := lookup.ToTypedJob(object)
		if err != nil || !isJob {
			problems = append(problems, err)
			continue
		}
		if o.attach {
			if err := stream.FollowJobLogs(limited, o.f, c, job); limited.Err() == nil {
				problems = append(problems, err)
			}
		}
		problems = append(problems, o.waitForOutcome(limited, ctx, c, job))
	}
	if ctx.Err() != nil {
		o.printContinuing(created)
	}
	return errors.Join(problems...)
}

// printContinuing prints, after the user has interrupted the wait, that the jobs continue to run.
func (o *runOptions) printContinuing(created []cli.FileObject) {
	for _, object := range created {
		if object.Object.GetKind() != "Job" {
			continue
		}
		name := object.Object.GetName()
		fmt.Fprintf(o.f.Streams.Err, "job %q continues; use '%s -f' to follow it, or '%s' to cancel it\n", name, o.f.CommandText("job logs "+name), o.f.CommandText("job cancel "+name))
	}
}

// waitForOutcome waits until a job has ended and converts its result to an exit code.
func (o *runOptions) waitForOutcome(limited, whole context.Context, c client.WithWatch, job *batchv1alpha1.Job) error {
	last := job
	busy := o.f.Streams.StartBusyLine("waiting for job " + job.Name)
	told := wait.StartAnnouncer(limited, o.f, c, job)
	err := wait.FollowJob(limited, c, client.ObjectKeyFromObject(job), job.UID, func(now *batchv1alpha1.Job) (bool, error) {
		last = now
		told.RecordJob(now)
		busy.SetText("waiting for job %s: %s", job.Name, jobstatus.PhaseOrPending(now))
		return jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(now)) || jobstatus.PhaseOrPending(now) == batchv1alpha1.Aborted, nil
	})
	told.Close()
	busy.RemoveLine()
	switch {
	case errors.Is(err, cli.ErrGone):
		return o.f.DeletedError("job", "job", job.Name)
	case limited.Err() != nil && whole.Err() == nil:
		return o.wait.TimeoutError(fmt.Sprintf("job %q", job.Name), string(jobstatus.PhaseOrPending(last)))
	case err != nil:
		return err
	case wait.HasFailedElements(last):
		failed := wait.FailedElementsError(o.f, last)
		if o.attach {
			failed.Code = highestExitCode(last)
		}
		return failed
	case jobstatus.PhaseOrPending(last) == batchv1alpha1.Completed:
		if !o.attach {
			fmt.Fprintf(o.f.Streams.Err, "job %q completed\n", job.Name)
		}
		return nil
	}
	return o.failureError(whole, c, last)
}

// failureError returns an error with the job's final phase and its failed containers.
func (o *runOptions) failureError(ctx context.Context, c client.Client, job *batchv1alpha1.Job) error {
	failed := usererror.Errorf(o.f.CommandText("job view "+job.Name)+"; "+o.f.CommandText("job logs "+job.Name), "job %q ended as %s", job.Name, jobstatus.PhaseOrPending(job))
	if w := jobstatus.ExplainJob(job, nil); w.CodeAndMessage() != "" {
		failed.What += ": " + w.CodeAndMessage()
	}
	pods, err := clusterops.PodsOfJob(ctx, c, job)
	if err != nil {
		return failed
	}
	for _, line := range jobstatus.ListFailures(job, pods) {
		failed.What += "\n" + line
	}
	if o.attach {
		failed.Code = jobstatus.ExitCode(pods)
	}
	return failed
}

// highestExitCode returns the highest exit code of the array's elements, as sbatch --wait does. It returns 1 if no
// failed element has an exit code.
func highestExitCode(job *batchv1alpha1.Job) int {
	highest := cli.ExitError
	for text := range job.Status.Array.ExitCodes {
		if code, err := strconv.Atoi(text); err == nil {
			highest = max(highest, code)
		}
	}
	return highest
}
