package slurm

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/translate"
)

// idPatience is how long to wait for a job's number; tests wait less.
var idPatience = 5 * time.Second

// watchPause is how long to wait before a watch that failed or ended is asked for again.
const watchPause = 250 * time.Millisecond

// submit creates a job and what goes with it, or nothing, and waits for its number. What only vc's job controller can do is not begun without it: the pods
// wait for the ConfigMap, and that is made when the job has its number.
func (c *call) submit(ctx context.Context, r *translate.Result) (*batchv1alpha1.Job, error) {
	cl, err := c.f.Client()
	if err != nil {
		return nil, err
	}
	if err := cl.Create(ctx, r.Job); err != nil {
		return nil, c.failed(err)
	}
	job := r.Job
	if cannot := onlyOurs(r); cannot != "" {
		if job = awaitID(ctx, cl, job); idOf(job) == job.Name {
			c.takeBack(ctx, cl, job)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fault.Errorf("it gave the job no number in "+idPatience.String()+": is vc's job controller running?", "Batch job submission failed: this cluster's job controller cannot %s", cannot)
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
		plain, err := cli.Untyped(object)
		if err == nil {
			err = cl.Create(ctx, plain)
		}
		if err != nil {
			c.takeBack(ctx, cl, job)
			return nil, c.failed(err)
		}
	}
	return awaitID(ctx, cl, job), nil
}

// onlyOurs says what of a job needs vc's job controller: others, which give no numbers, would run it at once and all of it. "" when there is nothing.
func onlyOurs(r *translate.Result) string {
	annotations := r.Job.Annotations
	if limit := annotations[keys.ArrayLimit]; limit != "" {
		return "limit arrays; drop %" + limit
	}
	for _, gate := range []struct{ key, option string }{{keys.Hold, "hold"}, {keys.Begin, "begin"}, {keys.Dependency, "dependency"}} {
		if annotations[gate.key] != "" {
			return "hold jobs back; drop --" + gate.option
		}
	}
	return ""
}

// takeBack deletes a job that could not be made whole; what belongs to it goes with it.
func (c *call) takeBack(ctx context.Context, cl client.Client, job *batchv1alpha1.Job) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), idPatience)
	defer cancel()
	if err := cl.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		c.notef("warning", "job %s was made and could not be deleted again: %v", job.Name, err)
	}
}

// failed is an error of the API server in Slurm's form.
func (c *call) failed(err error) error {
	human := cli.Humanize(err, c.f.Where())
	if at := "metadata.annotations[" + keys.Dependency + "]: "; strings.Contains(human.What, at) {
		_, why, _ := strings.Cut(human.What, at)
		human.What, human.Hint = "Job dependency problem", why
	}
	return fault.Errorf(inSlurmsOptions(human.Hint), "Batch job submission failed: %s", human.What)
}

// inSlurmsOptions is a hint with the options that these commands have: -n is none of namespaces.
func inSlurmsOptions(hint string) string { return strings.ReplaceAll(hint, "(-n)", "(--namespace)") }

// awaitID waits for the number of a job that was made; a job that gets none in time is returned as it is.
func awaitID(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job) *batchv1alpha1.Job {
	if _, ok := batchv1alpha1.JobID(job); ok {
		return job
	}
	ctx, cancel := context.WithTimeout(ctx, idPatience)
	defer cancel()
	numbered := func(now *batchv1alpha1.Job) bool { _, has := batchv1alpha1.JobID(now); return has }
	for ctx.Err() == nil {
		if now, ok := nextOf(ctx, cl, job, numbered); ok {
			return now
		}
		now := &batchv1alpha1.Job{}
		if err := cl.Get(ctx, client.ObjectKeyFromObject(job), now); err == nil && now.UID == job.UID && numbered(now) {
			return now
		}
		pause(ctx, watchPause)
	}
	return job
}

// pause waits, or until there is no more need.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// nextOf watches one job until it is as wanted; ok is false when the watch ended before, or the job is gone.
func nextOf(ctx context.Context, cl client.WithWatch, job *batchv1alpha1.Job, wanted func(*batchv1alpha1.Job) bool) (now *batchv1alpha1.Job, ok bool) {
	w, err := cl.Watch(ctx, &batchv1alpha1.JobList{}, client.InNamespace(job.Namespace), client.MatchingFields{"metadata.name": job.Name})
	if err != nil {
		return nil, false
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if now, is := event.Object.(*batchv1alpha1.Job); is && now.UID == job.UID && wanted(now) {
			return now, true
		}
	}
	return nil, false
}
