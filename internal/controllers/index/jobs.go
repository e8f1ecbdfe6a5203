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

// Reference is the value by which a job is found that a dependency names, without the element.
func Reference(r batch.JobReference) string {
	r.HasElement = false
	return r.String()
}

// Title is the value of jobs of which only one may run if one of them asks for that. No reference looks like it.
func Title(job *batch.Job) string {
	return strings.Join([]string{"title", job.Namespace, batch.UserOf(job), batch.Title(job)}, "\x00")
}

// references are the values that name a job.
func references(job *batch.Job) []string {
	names := []string{Reference(batch.JobReference{Namespace: job.Namespace, Name: job.Name})}
	if id, ok := batch.JobID(job); ok {
		names = append(names, Reference(batch.JobReference{ID: id}))
	}
	return names
}

// NamesOf are the values of JobAwaits of jobs that may wait for this one.
func NamesOf(job *batch.Job) []string { return append(references(job), Title(job)) }

// awaited are the values of what a job waits for.
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

// JobsOf reads the jobs whose controller is owner.
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

// TemplateOf is the JobTemplate that a job was made from, as namespace.name, empty for none. The label says it, which a person may have set; where the
// value is too long for a label the annotation does.
func TemplateOf(job client.Object) string {
	return cmp.Or(job.GetLabels()[keys.CreatedByJobTemplate], job.GetAnnotations()[keys.CreatedByJobTemplate])
}
