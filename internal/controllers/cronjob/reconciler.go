package cronjob

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/eventdedup"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Options configures the controller.
type Options struct {
	Cache       client.Reader // is kept up to date by watches
	API         client.Client // does not use the cache; does all writes
	Recorder    record.EventRecorder
	Reconcilers int // number of CronJobs reconciled in parallel
	Now         func() time.Time
}

// Reconciler computes and carries out the plans of CronJobs.
type Reconciler struct {
	cache    client.Reader
	api      client.Client
	recorder record.EventRecorder
	now      func() time.Time
	recorded eventdedup.Events
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	return &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, now: o.Now}
}

// Controller returns the CronJob controller.
func Controller(o Options) registration.Controller {
	options, observed := backoff.ControllerOptions(o.Reconcilers, New(o))
	return registration.Controller{
		Name: "cronjob-controller",
		Kind: &batchv1alpha1.CronJob{},
		Watches: []registration.Watch{
			{Kind: &batchv1alpha1.Job{}, Handler: handler.EnqueueRequestsFromMapFunc(requestsForOwner)},
		},
		Reconciler: observed,
		Options:    options,
	}
}

// requestsForOwner maps a job to a request for the CronJob that controls it. The version of the API in the owner
// reference does not matter.
func requestsForOwner(_ context.Context, job client.Object) []reconcile.Request {
	owner := metav1.GetControllerOfNoCopy(job)
	if owner == nil || schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() != cronJobKind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: job.GetNamespace(), Name: owner.Name}}}
}

var cronJobKind = batchv1alpha1.GroupVersion.WithKind("CronJob").GroupKind()

// Reconcile reads a CronJob, computes its plan and carries it out.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	cron := &batchv1alpha1.CronJob{}
	if err := r.cache.Get(ctx, request.NamespacedName, cron); err != nil {
		r.recorded.Forget(request.NamespacedName)
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	jobs, err := index.JobsOwnedBy(ctx, r.cache, cron)
	if err != nil {
		return reconcile.Result{}, err
	}
	in := Input{CronJob: cron, Jobs: jobs, Now: r.now()}
	if err := r.readUnknownJobs(ctx, &in); err != nil {
		return reconcile.Result{}, err
	}
	p := Compute(in)
	if p.Create != nil {
		// Read the CronJob from the API server, because an outdated cache could cause a second job for the same time.
		live := &batchv1alpha1.CronJob{}
		if err := r.api.Get(ctx, request.NamespacedName, live); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if live.UID != cron.UID {
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}
		in.CronJob = live
		if err := r.readUnknownJobs(ctx, &in); err != nil {
			return reconcile.Result{}, err
		}
		p = Compute(in)
	}
	return r.carryOutPlan(ctx, in.CronJob, &p)
}

// readUnknownJobs adds the jobs that the status lists as active and that are not in the input. They may have been created by
// an earlier process, and an outdated cache may not show them yet.
func (r *Reconciler) readUnknownJobs(ctx context.Context, in *Input) error {
	for _, reference := range in.CronJob.Status.Active {
		isKnown := slices.ContainsFunc(in.Jobs, func(j *batchv1alpha1.Job) bool { return j.UID == reference.UID })
		if isKnown {
			continue
		}
		job := &batchv1alpha1.Job{}
		err := r.api.Get(ctx, types.NamespacedName{Namespace: in.CronJob.Namespace, Name: reference.Name}, job)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("cronjob %s: job %s: %w", in.CronJob.Name, reference.Name, err)
		case job.UID == reference.UID && metav1.IsControlledBy(job, in.CronJob):
			in.Jobs = append(in.Jobs, job)
		}
	}
	return nil
}

func (r *Reconciler) carryOutPlan(ctx context.Context, cron *batchv1alpha1.CronJob, p *Plan) (reconcile.Result, error) {
	name := client.ObjectKeyFromObject(cron)
	for _, e := range p.Events {
		r.recordEvent(name, cron, e)
	}
	cron = cron.DeepCopy()
	if p.Noticed != nil {
		if err := r.writeStatus(ctx, cron, p.Noticed); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	for _, job := range p.Delete {
		if err := r.deleteJob(ctx, job); err != nil {
			r.recordEvent(name, cron, Event{corev1.EventTypeWarning, failedDelete, fmt.Sprintf("job %s: %v", job.Name, err)})
			return reconcile.Result{}, fmt.Errorf("cronjob %s: job %s: %w", cron.Name, job.Name, err)
		}
		r.recordEvent(name, cron, Event{corev1.EventTypeNormal, successfulDelete, "Deleted job " + job.Name})
	}
	if p.Create != nil {
		made, err := r.createScheduledJob(ctx, name, cron, p.Create)
		if err != nil {
			r.recordEvent(name, cron, Event{corev1.EventTypeWarning, failedCreate, fmt.Sprintf("job %s: %v", p.Create.Name, err)})
			return reconcile.Result{}, fmt.Errorf("cronjob %s: job %s: %w", cron.Name, p.Create.Name, err)
		}
		if made != nil {
			p.Status.Active = append(p.Status.Active, referenceTo(made))
		}
	}
	if p.Status != nil {
		if err := r.writeStatus(ctx, cron, p.Status); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	return reconcile.Result{RequeueAfter: p.RequeueAfter}, nil
}

// createScheduledJob creates a job, or returns the existing one if it was created before. It returns nil without an
// error if there is no active job as a result.
func (r *Reconciler) createScheduledJob(ctx context.Context, name types.NamespacedName, cron *batchv1alpha1.CronJob, job *batchv1alpha1.Job) (*batchv1alpha1.Job, error) {
	err := r.api.Create(ctx, job)
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		r.recordEvent(name, cron, Event{corev1.EventTypeWarning, namespaceGoingAway, "job not created: the namespace is being deleted"})
		return nil, nil
	case apierrors.IsAlreadyExists(err):
		there := &batchv1alpha1.Job{}
		if err := r.api.Get(ctx, client.ObjectKeyFromObject(job), there); err != nil {
			return nil, err
		}
		if !metav1.IsControlledBy(there, cron) {
			r.recordEvent(name, cron, Event{corev1.EventTypeWarning, foreignJob,
				fmt.Sprintf("job %s exists but does not belong to this CronJob, so no job is created for this time; delete the job or rename the CronJob", job.Name)})
			return nil, nil
		}
		if IsEndedPhase(there.Status.State.Phase) {
			return nil, nil
		}
		return there, nil
	case err != nil:
		return nil, err
	}
	r.recordEvent(name, cron, Event{corev1.EventTypeNormal, successfulCreate, "Created job " + job.Name})
	return job, nil
}

// deleteJob deletes the job and its pods. It fails if another job has the same name.
func (r *Reconciler) deleteJob(ctx context.Context, job *batchv1alpha1.Job) error {
	background, uid := metav1.DeletePropagationBackground, job.UID
	err := r.api.Delete(ctx, job, &client.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsConflict(err) {
		return nil // another job now has the name
	}
	return client.IgnoreNotFound(err)
}

// writeStatus writes the status if the CronJob has not changed since it was read; otherwise, it returns a conflict.
func (r *Reconciler) writeStatus(ctx context.Context, cron *batchv1alpha1.CronJob, status *batchv1alpha1.CronJobStatus) error {
	cron.Status = *status
	if err := r.api.Status().Update(ctx, cron); err != nil {
		return fmt.Errorf("status of cronjob %s: %w", cron.Name, err)
	}
	return nil
}

func (r *Reconciler) recordEvent(name types.NamespacedName, cron *batchv1alpha1.CronJob, e Event) {
	if r.recorded.New(name, e.Reason, e.Message) {
		r.recorder.Event(cron, e.Type, e.Reason, e.Message)
	}
}
