// Package jobtemplate maintains the list of created jobs in the status of each JobTemplate.
package jobtemplate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/backoff"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// Options configures the controller.
type Options struct {
	Cache client.Reader // is kept up to date by watches
	API   client.Client // does all writes
}

// Reconciler writes the status of JobTemplates.
type Reconciler struct {
	cache client.Reader
	api   client.Client
}

// New returns a Reconciler that is not registered with a manager.
func New(o Options) *Reconciler { return &Reconciler{cache: o.Cache, api: o.API} }

// Controller returns the JobTemplate controller.
func Controller(o Options) registration.Controller {
	options, observed := backoff.ControllerOptions(1, New(o))
	return registration.Controller{
		Name: "jobtemplate-controller",
		Kind: &flowv1alpha1.JobTemplate{},
		Watches: []registration.Watch{
			{Kind: &batchv1alpha1.Job{}, Handler: handler.EnqueueRequestsFromMapFunc(requestForTemplate), Predicates: []predicate.Predicate{templateChanges()}},
		},
		Reconciler: observed,
		Options:    options,
	}
}

// templateChanges accepts an update only if the job's template changes. It accepts all other events.
func templateChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return index.TemplateOfJob(e.ObjectOld) != index.TemplateOfJob(e.ObjectNew)
	}}
}

// requestForTemplate maps a job to a request for its template.
func requestForTemplate(_ context.Context, job client.Object) []reconcile.Request {
	// The name of a namespace cannot contain dots, but the name of a template can.
	namespace, name, ok := strings.Cut(index.TemplateOfJob(job), ".")
	if !ok || namespace != job.GetNamespace() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

// Reconcile updates the list of jobs in a template's status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	template := &flowv1alpha1.JobTemplate{}
	if err := r.cache.Get(ctx, request.NamespacedName, template); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	var jobs batchv1alpha1.JobList
	if err := r.cache.List(ctx, &jobs, client.InNamespace(template.Namespace), client.MatchingFields{index.JobTemplate: template.Namespace + "." + template.Name}); err != nil {
		return reconcile.Result{}, fmt.Errorf("jobs of jobtemplate %s: %w", template.Name, err)
	}
	var names []string
	for i := range jobs.Items {
		names = append(names, jobs.Items[i].Name)
	}
	slices.Sort(names)
	if slices.Equal(names, template.Status.JobDependsOnList) {
		return reconcile.Result{}, nil
	}
	update := template.DeepCopy()
	update.Status.JobDependsOnList = names
	return reconcile.Result{}, client.IgnoreNotFound(r.api.Status().Update(ctx, update))
}
