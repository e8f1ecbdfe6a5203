package chaos

import (
	"context"
	"errors"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/clusterops"
)

// namespace is the namespace of all jobs of a run.
const namespace = "chaos"

// live executes a story: each action at its time or, during a fault, as soon as possible.
func (w *World) live(ctx context.Context, s Story, began time.Time) {
	for _, a := range s.Acts {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(began.Add(a.At))):
		}
		if err := patiently(ctx, func(ctx context.Context) error { return w.act(ctx, s, a) }); err != nil {
			w.rules.Broken("a user cannot %s %s: %v", a.Verb, s.Name, err)
			return
		}
	}
}

// patience is how long an action is retried, and how long a run waits for an expected state.
const patience = 90 * time.Second

// patiently repeats do until it succeeds.
func patiently(ctx context.Context, do func(context.Context) error) error {
	deadline := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		try, cancel := context.WithTimeout(ctx, 10*time.Second)
		err := do(try)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// act executes one action on a job. It does nothing if the job has ended or was deleted.
func (w *World) act(ctx context.Context, s Story, a Act) error {
	if a.Verb == Submit {
		err := w.client.Create(ctx, s.job(namespace))
		if apierrors.IsAlreadyExists(err) {
			return nil // the response to an earlier attempt was lost
		}
		return err
	}
	job := &batchv1alpha1.Job{}
	if err := w.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: s.Name}, job); err != nil {
		return client.IgnoreNotFound(err)
	}
	switch a.Verb {
	case Remove:
		return client.IgnoreNotFound(w.client.Delete(ctx, job, client.PropagationPolicy("Background")))
	case Scale:
		return w.scale(ctx, job, a.Replicas)
	case Suspend:
		return w.client.Create(ctx, clusterops.JobCommand(job, busv1alpha1.AbortJobAction))
	case Resume:
		return w.resume(ctx, job)
	}
	return errors.New("no such verb")
}

func (w *World) scale(ctx context.Context, job *batchv1alpha1.Job, replicas int32) error {
	job.Spec.Tasks[0].Replicas = replicas
	err := w.client.Update(ctx, job)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		return nil // the job has ended
	}
	return err
}

// resume waits for the suspension, unless the job has ended.
func (w *World) resume(ctx context.Context, job *batchv1alpha1.Job) error {
	switch job.Status.State.Phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Completing:
		return nil
	case batchv1alpha1.Aborted:
		return w.client.Create(ctx, clusterops.JobCommand(job, busv1alpha1.ResumeJobAction))
	}
	return errors.New("it is not suspended yet: " + string(job.Status.State.Phase))
}
