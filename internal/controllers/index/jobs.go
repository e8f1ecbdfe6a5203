package index

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// Reference returns the index value for a reference to a job in a dependency. It ignores the array element.
func Reference(r batch.JobReference) string {
	r.HasElement = false
	return r.String()
}

// Title returns the index value that a user's jobs with the same title share. Only one of them may run at a time if
// it has a singleton dependency. The value never equals that of a Reference.
func Title(job *batch.Job) string {
	return strings.Join([]string{"title", job.Namespace, batch.UserOf(job), batch.Title(job)}, "\x00")
}

// references returns the Reference values that identify a job.
func references(job *batch.Job) []string {
	names := []string{Reference(batch.JobReference{Namespace: job.Namespace, Name: job.Name})}
	if id, ok := batch.JobID(job); ok {
		names = append(names, Reference(batch.JobReference{ID: id}))
	}
	return names
}

// NamesOf returns the values of JobAwaits under which the jobs that wait for this job are found.
func NamesOf(job *batch.Job) []string { return append(references(job), Title(job)) }

// awaited returns the values of JobAwaits for the dependencies of a job.
func awaited(job *batch.Job) []string {
	d, err := batch.DependencyOf(job)
	if err != nil {
		return nil
	}
	var names []string
	for _, term := range d.Terms {
		if term.Kind == batch.Singleton {
			names = append(names, Title(job))
		} else {
			names = append(names, Reference(term.Job))
		}
	}
	return names
}

// JobsOf returns the jobs whose controller is owner.
func JobsOf(ctx context.Context, cache client.Reader, owner client.Object) ([]*batch.Job, error) {
	var list batch.JobList
	if err := cache.List(ctx, &list, client.InNamespace(owner.GetNamespace()), client.MatchingFields{JobController: string(owner.GetUID())}); err != nil {
		return nil, fmt.Errorf("jobs of %s: %w", owner.GetName(), err)
	}
	jobs := make([]*batch.Job, len(list.Items))
	for i := range list.Items {
		jobs[i] = &list.Items[i]
	}
	return jobs, nil
}

// TemplateOf returns the JobTemplate from which a job was created, as namespace.name, or "". It reads the label,
// which may have been set by a user, or the annotation, which is used if the value is too long for a label.
func TemplateOf(job client.Object) string {
	return cmp.Or(job.GetLabels()[keys.CreatedByJobTemplate], job.GetAnnotations()[keys.CreatedByJobTemplate])
}
