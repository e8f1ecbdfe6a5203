// Package submit implements the programs that submit jobs: sbatch, srun, salloc and scrontab. It also implements `vcctl
// slurm translate`, which shows what sbatch would submit.
//
//	In:   script, directives, environment and options; the site's profile and facts about the cluster
//	Out:  a Job with its ConfigMap and Secret, or a CronJob; for srun and salloc, a step or a shell in the job
//
// # Invariants
//
//   - A submission that fails leaves no objects behind.
package submit

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// idPatience is the maximum time to wait for a job's number. Tests set a shorter time.
var idPatience = 5 * time.Second

// awayPatience is the maximum time to wait for a job controller if a job requires vc's controller and no controller has
// processed it yet. Tests set a shorter time.
var awayPatience = 2 * time.Minute

// submitJob creates a job and its other objects, and waits for the job's number. If it fails, it leaves no objects
// behind. A job that requires vc's job controller does not start without it, because the job's pods wait for the
// ConfigMap, which submitJob creates only after the controller has processed the job.
func submitJob(ctx context.Context, c *program.Call, r *translate.Result) (*batchv1alpha1.Job, error) {
	cl, err := c.Factory.Client()
	if err != nil {
		return nil, err
	}
	// ctx is not used here, because an interrupted request may still create the job, without a message to the user.
	if err := cl.Create(context.WithoutCancel(ctx), r.Job); err != nil {
		return nil, submissionError(c, err)
	}
	job := r.Job
	if what, option := requiredFeature(r); what != "" {
		if job, err = waitForController(ctx, c, cl, job, what, option); err != nil {
			deleteSubmitted(ctx, c, cl, r.Job)
			return nil, err
		}
	}
	owner := []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
	r.ConfigMap.OwnerReferences = owner
	with := []client.Object{r.ConfigMap}
	if r.Secret != nil {
		r.Secret.OwnerReferences = owner
		with = append(with, r.Secret)
	}
	for _, object := range with {
		plain, err := cli.ToPlainObject(object)
		if err == nil {
			err = cl.Create(ctx, plain)
		}
		if err != nil {
			deleteSubmitted(ctx, c, cl, job)
			return nil, submissionError(c, err)
		}
	}
	return waitForNumber(ctx, cl, job), nil
}

// waitForController waits until vc's job controller has processed a job that requires it. All job controllers write a
// phase, but only vc's writes a number or a reason for waiting. If neither is set, vc's controller has not processed
// the job, for example because it is restarting.
func waitForController(ctx context.Context, c *program.Call, cl client.WithWatch, job *batchv1alpha1.Job, what, option string) (*batchv1alpha1.Job, error) {
	isOurs := func(now *batchv1alpha1.Job) bool { return hasNumber(now) || hasControllerStatus(now) }
	if now, ok := clusterdata.WaitUntil(ctx, cl, job, idPatience, isOurs); ok {
		return now, nil
	}
	if err := noteUnprocessed(ctx, c, cl, job, what); err != nil {
		return nil, err
	}
	now, ok := clusterdata.WaitUntil(ctx, cl, job, awayPatience, func(now *batchv1alpha1.Job) bool { return hasPhase(now) || isOurs(now) })
	if ok && !isOurs(now) {
		if now, isVC := clusterdata.WaitUntil(ctx, cl, job, idPatience, isOurs); isVC {
			return now, nil
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !ok:
		return nil, usererror.Errorf("the job was deleted before any pod ran; submit it again when vc's job controller is running", notSubmitted+"no job controller accepted the job within %s", idPatience+awayPatience)
	case !isOurs(now):
		return nil, usererror.Errorf("the controller accepted the job but did not assign a number, so it is not vc's job controller", notSubmitted+"this cluster's job controller cannot %s; remove %s", what, option)
	}
	return now, nil
}

// notSubmitted begins the messages about jobs that were created and then deleted again.
const notSubmitted = "Batch job submission failed: "

func hasPhase(job *batchv1alpha1.Job) bool { return job.Status.State.Phase != "" }

// noteUnprocessed prints a note if no controller has processed a job yet. It returns an error if the user may not read
// the job.
func noteUnprocessed(ctx context.Context, c *program.Call, cl client.Client, job *batchv1alpha1.Job, what string) error {
	now := &batchv1alpha1.Job{}
	switch err := cl.Get(ctx, client.ObjectKeyFromObject(job), now); {
	case ctx.Err() != nil:
		return ctx.Err()
	case apierrors.IsForbidden(err):
		return usererror.Errorf("the job was deleted because you are not allowed to read jobs in namespace "+job.Namespace, notSubmitted+"cannot determine whether this cluster's job controller can %s", what)
	case err != nil || !hasPhase(now):
		c.PrintNotef("note", "no job controller accepted the job within %s; waiting another %s", idPatience, awayPatience)
	}
	return nil
}

// hasControllerStatus reports whether a job without a number has a status that only vc's job controller writes.
func hasControllerStatus(job *batchv1alpha1.Job) bool {
	delayed := reason.Get(reason.Code(job.Status.State.Reason)).Has(reason.DelaysJob)
	return delayed || job.Status.Array != nil
}

// requiredFeature returns the feature for which a job requires vc's job controller, and the option that requests the
// feature. Other controllers, which assign no numbers, would run the whole job at once. Both results are "" if the
// job has no such feature.
func requiredFeature(r *translate.Result) (what, option string) {
	annotations := r.Job.Annotations
	if limit := annotations[keys.ArrayLimit]; limit != "" {
		return "limit the number of running array tasks", "%" + limit
	}
	for _, gate := range []struct{ key, option string }{{keys.Hold, "hold"}, {keys.Begin, "begin"}, {keys.Dependency, "dependency"}} {
		if annotations[gate.key] != "" {
			return "delay jobs", "--" + gate.option
		}
	}
	return "", ""
}

// deleteSubmitted deletes a job whose other objects could not be created, together with everything that it owns.
func deleteSubmitted(ctx context.Context, c *program.Call, cl client.Client, job *batchv1alpha1.Job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), idPatience)
	defer cancel()
	if err := cl.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		c.PrintNotef("warning", "job %s was created but could not be deleted: %v", job.Name, err)
	}
}

// submissionError converts an error from the API server to Slurm's format.
func submissionError(c *program.Call, err error) error {
	human := cli.HumanizeError(err, c.Factory.DescribeConnection())
	what, hint := human.What, program.AdaptHint(human.Hint)
	if why := dependencyRejection(err); why != "" {
		what, hint = "Job dependency problem", why
	}
	if message, why := program.FindLimitRejection(err); message != "" {
		what, hint = message, why
	}
	return usererror.Errorf(hint, "Batch job submission failed: %s", what)
}

// dependencyRejection returns why the API server rejected the job's dependency, or "" if it did not.
func dependencyRejection(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return ""
	}
	for _, cause := range status.Status().Details.Causes {
		if cause.Field == "metadata.annotations["+keys.Dependency+"]" {
			return cause.Message
		}
	}
	return ""
}

// waitForNumber waits for the number of a created job. If the job gets no number in time, it returns the job unchanged.
func waitForNumber(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if now, ok := clusterdata.WaitUntil(ctx, cl, job, idPatience, hasNumber); ok {
		return now
	}
	return job
}

// hasNumber reports whether a job has a number.
func hasNumber(job *batchv1alpha1.Job) bool {
	_, has := batchv1alpha1.JobID(job)
	return has
}
