package jobflow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
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
	Reconcilers int // number of flows reconciled in parallel
	Now         func() time.Time
}

// Reconciler computes and carries out the plans of JobFlows.
type Reconciler struct {
	cache    client.Reader
	api      client.Client
	recorder record.EventRecorder
	now      func() time.Time
	prober   *prober
	listener listener
	recorded eventdedup.Events
	gone     graveyard
	ending   endingFlows
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler {
	flowMetrics.Register()
	return &Reconciler{cache: o.Cache, api: o.API, recorder: o.Recorder, now: o.Now, prober: newProber(o.Cache)}
}

// Controller returns the JobFlow controller.
func Controller(o Options) registration.Controller {
	r := New(o)
	options, observed := backoff.ControllerOptions(o.Reconcilers, r)
	return registration.Controller{
		Name: "jobflow-controller",
		Kind: &flowv1alpha1.JobFlow{},
		Watches: []registration.Watch{
			{Kind: &batchv1alpha1.Job{}, Handler: r.jobHandler()},
			{Kind: &flowv1alpha1.JobTemplate{}, Handler: handler.EnqueueRequestsFromMapFunc(r.flowsUsing)},
		},
		Reconciler: observed,
		Options:    options,
	}
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// jobHandler returns the handler for job events. It enqueues the flow to which a job belongs, and stores the last state
// of deleted jobs, because a job that is deleted right after its completion must not run again.
func (r *Reconciler) jobHandler() handler.EventHandler {
	wake := func(o client.Object, q queue) {
		if owner := metav1.GetControllerOfNoCopy(o); owner != nil && owner.Kind == "JobFlow" {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: owner.Name}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { wake(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { wake(e.ObjectNew, q) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			if job, ok := e.Object.(*batchv1alpha1.Job); ok {
				r.gone.storeDeleted(job)
			}
			wake(e.Object, q)
		},
	}
}

// flowsUsing returns requests for the flows that refer to a template.
func (r *Reconciler) flowsUsing(ctx context.Context, template client.Object) []reconcile.Request {
	var flows flowv1alpha1.JobFlowList
	if err := r.cache.List(ctx, &flows, client.InNamespace(template.GetNamespace())); err != nil {
		return nil
	}
	var requests []reconcile.Request
	for i := range flows.Items {
		for j := range flows.Items[i].Spec.Flows {
			if flows.Items[i].Spec.Flows[j].Name == template.GetName() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&flows.Items[i])})
				break
			}
		}
	}
	return requests
}

// Reconcile reads a flow, computes its plan, runs the requested probes, and carries out the plan.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	f := &flowv1alpha1.JobFlow{}
	if err := r.cache.Get(ctx, request.NamespacedName, f); err != nil {
		r.recorded.Forget(request.NamespacedName)
		r.listener.countUnanswered(request.NamespacedName, nil)
		if apierrors.IsNotFound(err) {
			r.gone.dropDeletedFlow(request.NamespacedName)
			r.ending.drop(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	in := Input{Flow: f, Templates: map[string]*flowv1alpha1.JobTemplate{}, Jobs: map[string]*batchv1alpha1.Job{}, Gone: r.gone.deletedJobs(f), Now: r.now()}
	jobs, err := index.JobsOwnedBy(ctx, r.cache, f)
	if err != nil {
		return reconcile.Result{}, err
	}
	for _, job := range jobs {
		in.Jobs[job.Name] = job
	}
	for i := range f.Spec.Flows {
		template := &flowv1alpha1.JobTemplate{}
		err := r.cache.Get(ctx, types.NamespacedName{Namespace: f.Namespace, Name: f.Spec.Flows[i].Name}, template)
		if client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("jobtemplate %s: %w", f.Spec.Flows[i].Name, err)
		}
		if err == nil {
			in.Templates[template.Name] = template
		}
	}
	p := Compute(in)
	if len(p.Probes) > 0 {
		var unanswered []Probe
		if in.Held, unanswered, err = r.prober.runAllProbes(ctx, in.Jobs, p.Probes); err != nil {
			return reconcile.Result{}, fmt.Errorf("probes of jobflow %s: %w", f.Name, err)
		}
		in.Silent = r.listener.countUnanswered(request.NamespacedName, unanswered)
		p = Compute(in)
	}
	return r.carryOutPlan(ctx, f, &p)
}

func (r *Reconciler) carryOutPlan(ctx context.Context, f *flowv1alpha1.JobFlow, p *Plan) (reconcile.Result, error) {
	for _, e := range p.Events {
		r.recordEvent(f, e)
	}
	// Jobs are created before the status is written, because a status that lacks a job would be corrected later, but a
	// status that lists a missing job would not. If a job cannot be created, for example because its queue is closed, the
	// status is still written, because it also describes the other steps.
	var failures []error
	for _, job := range p.Create {
		if err := r.createStepJob(ctx, f, job); err != nil {
			r.recordEvent(f, Event{corev1.EventTypeWarning, failedCreate, fmt.Sprintf("job %s: %v", job.Name, err)})
			failures = append(failures, fmt.Errorf("jobflow %s: job %s: %w", f.Name, job.Name, err))
			if !isRejection(err) {
				break // the API server may be overloaded
			}
		}
	}
	if p.Status != nil {
		update := f.DeepCopy()
		update.Status = *p.Status
		if err := r.api.Status().Update(ctx, update); err != nil {
			return reconcile.Result{}, errors.Join(append(failures, client.IgnoreNotFound(err))...)
		}
		countPhaseEntry(f, p.Status.State.Phase)
	}
	for _, job := range p.Delete {
		if err := r.deleteStepJob(ctx, job); err != nil {
			return reconcile.Result{}, fmt.Errorf("jobflow %s: job %s: %w", f.Name, job.Name, err)
		}
		why := "the flow succeeded, and jobRetainPolicy is delete"
		if job.Status.State.Phase != batchv1alpha1.Completed {
			why = "its step runs again"
		}
		r.recordEvent(f, Event{corev1.EventTypeNormal, deleted, "Deleted job " + job.Name + ": " + why})
	}
	if len(failures) > 0 {
		return reconcile.Result{}, errors.Join(failures...)
	}
	return reconcile.Result{RequeueAfter: p.RequeueAfter}, nil
}

// isRejection reports whether the API server has rejected this job, so that others may be accepted.
func isRejection(err error) bool {
	switch {
	case errors.Is(err, errForeignJob), apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return true
	}
	return false
}

// errForeignJob is the error if a job that does not belong to the flow has the name of a step's job.
var errForeignJob = errors.New("a job that does not belong to this flow has this name")

// createStepJob creates the job of a step. It succeeds without a job if the namespace is being deleted. After the API
// server has reported this once, createStepJob sends no more requests for the flow, because each job that is deleted
// with the namespace causes another reconcile that would try to create the job again.
func (r *Reconciler) createStepJob(ctx context.Context, f *flowv1alpha1.JobFlow, job *batchv1alpha1.Job) error {
	if r.ending.contains(f) {
		return nil
	}
	err := r.api.Create(ctx, job)
	switch {
	case err == nil:
		r.recordEvent(f, Event{corev1.EventTypeNormal, created, fmt.Sprintf("create a job named %s!", job.Name)})
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		r.ending.add(f)
		r.recordEvent(f, Event{corev1.EventTypeWarning, namespaceEnding, "job not created: the namespace is being deleted"})
		return nil
	case !apierrors.IsAlreadyExists(err):
		return err
	}
	there := &batchv1alpha1.Job{}
	if err := r.api.Get(ctx, client.ObjectKeyFromObject(job), there); err != nil {
		return err
	}
	if metav1.IsControlledBy(there, f) {
		return nil // the cache is outdated
	}
	r.recordEvent(f, Event{corev1.EventTypeWarning, foreignJob, fmt.Sprintf("job %s exists but does not belong to this flow, so the step waits; delete the job or rename the flow", job.Name)})
	return errForeignJob
}

// deleteStepJob deletes this job, identified by its UID, and its pods.
func (r *Reconciler) deleteStepJob(ctx context.Context, job *batchv1alpha1.Job) error {
	background, uid := metav1.DeletePropagationBackground, job.UID
	err := r.api.Delete(ctx, job, &client.DeleteOptions{PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid}})
	if apierrors.IsConflict(err) {
		return nil // another job now has the name
	}
	return client.IgnoreNotFound(err)
}

func (r *Reconciler) recordEvent(f *flowv1alpha1.JobFlow, e Event) {
	if r.recorded.New(client.ObjectKeyFromObject(f), e.Reason, e.Message) {
		r.recorder.Event(f, e.Type, e.Reason, e.Message)
	}
}

// endingFlows stores the flows whose namespace is being deleted, by name. A namespace never leaves this state, so a flow
// stays in the set until it is deleted or another flow has its name.
type endingFlows struct {
	mu    sync.Mutex
	flows map[types.NamespacedName]types.UID
}

func (e *endingFlows) add(f *flowv1alpha1.JobFlow) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.flows == nil {
		e.flows = map[types.NamespacedName]types.UID{}
	}
	e.flows[client.ObjectKeyFromObject(f)] = f.UID
}

// contains reports whether the namespace of this flow, identified by its UID, is being deleted.
func (e *endingFlows) contains(f *flowv1alpha1.JobFlow) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	uid, found := e.flows[client.ObjectKeyFromObject(f)]
	return found && uid == f.UID
}

// drop removes a deleted flow.
func (e *endingFlows) drop(flow types.NamespacedName) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.flows, flow)
}

// graveyard stores the last state of ended jobs that were deleted, until the status of the flow contains it or the
// flow is deleted.
type graveyard struct {
	mu    sync.Mutex
	flows map[types.NamespacedName]map[string]*batchv1alpha1.Job // by job name; only owner and status fields
}

// buried is the maximum number of flows in a graveyard. If this number is exceeded, all entries are dropped, which is
// safe because the status of a flow is authoritative.
const buried = 10_000

func (g *graveyard) storeDeleted(job *batchv1alpha1.Job) {
	owner := metav1.GetControllerOfNoCopy(job)
	if owner == nil || owner.Kind != "JobFlow" || !isEndedPhase(job.Status.State.Phase) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.flows == nil || len(g.flows) > buried {
		g.flows = map[types.NamespacedName]map[string]*batchv1alpha1.Job{}
	}
	name := types.NamespacedName{Namespace: job.Namespace, Name: owner.Name}
	if g.flows[name] == nil {
		g.flows[name] = map[string]*batchv1alpha1.Job{}
	}
	g.flows[name][job.Name] = &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, Namespace: job.Namespace, CreationTimestamp: job.CreationTimestamp, OwnerReferences: job.OwnerReferences},
		Status:     batchv1alpha1.JobStatus{State: job.Status.State, RetryCount: job.Status.RetryCount, UserRestarts: job.Status.UserRestarts},
	}
}

// deletedJobs returns the deleted jobs of a flow whose results are not in the flow's status yet, and drops all other
// jobs of the flow.
func (g *graveyard) deletedJobs(f *flowv1alpha1.JobFlow) map[string]*batchv1alpha1.Job {
	name := client.ObjectKeyFromObject(f)
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range f.Status.JobStatusList {
		if s := &f.Status.JobStatusList[i]; isEndedPhase(s.State) && g.flows[name][s.Name] != nil && metav1.IsControlledBy(g.flows[name][s.Name], f) {
			delete(g.flows[name], s.Name)
		}
	}
	if len(g.flows[name]) == 0 {
		delete(g.flows, name)
	}
	of := map[string]*batchv1alpha1.Job{}
	for job, grave := range g.flows[name] {
		if metav1.IsControlledBy(grave, f) {
			of[job] = grave
		}
	}
	return of
}

// dropDeletedFlow removes the entries of a deleted flow.
func (g *graveyard) dropDeletedFlow(flow types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.flows, flow)
}
