package index

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// ReferenceValue returns the index value for a reference to a job in a dependency. It ignores the array element.
func ReferenceValue(r batchv1alpha1.JobReference) string {
	r.HasElement = false
	return r.String()
}

// TitleValue returns the index value of a job's title, which is the same for all of the user's jobs with this title. A
// job with a singleton dependency may not run at the same time as another of these jobs. The value is never equal to a
// ReferenceValue.
func TitleValue(job *batchv1alpha1.Job) string {
	return strings.Join([]string{"title", job.Namespace, batchv1alpha1.UserOf(job), batchv1alpha1.Title(job)}, "\x00")
}

// referenceValues returns the Reference values that identify a job.
func referenceValues(job *batchv1alpha1.Job) []string {
	names := []string{ReferenceValue(batchv1alpha1.JobReference{Namespace: job.Namespace, Name: job.Name})}
	if id, ok := batchv1alpha1.JobID(job); ok {
		names = append(names, ReferenceValue(batchv1alpha1.JobReference{ID: id}))
	}
	return names
}

// AwaitedNamesOf returns the values of the index JobAwaits for the jobs that are waiting for this job.
func AwaitedNamesOf(job *batchv1alpha1.Job) []string {
	return append(referenceValues(job), TitleValue(job))
}

// awaitedValues returns the values of JobAwaits for the dependencies of a job.
func awaitedValues(job *batchv1alpha1.Job) []string {
	d, err := batchv1alpha1.DependencyOf(job)
	if err != nil {
		return nil
	}
	var names []string
	for _, term := range d.Terms {
		if term.Kind == batchv1alpha1.Singleton {
			names = append(names, TitleValue(job))
		} else {
			names = append(names, ReferenceValue(term.Job))
		}
	}
	return names
}

// JobsOwnedBy returns the jobs whose controller is owner.
func JobsOwnedBy(ctx context.Context, cache client.Reader, owner client.Object) ([]*batchv1alpha1.Job, error) {
	var list batchv1alpha1.JobList
	if err := cache.List(ctx, &list, client.InNamespace(owner.GetNamespace()), client.MatchingFields{JobController: string(owner.GetUID())}); err != nil {
		return nil, fmt.Errorf("jobs of %s: %w", owner.GetName(), err)
	}
	jobs := make([]*batchv1alpha1.Job, len(list.Items))
	for i := range list.Items {
		jobs[i] = &list.Items[i]
	}
	return jobs, nil
}

// TemplateOfJob returns the JobTemplate from which a job was created, as namespace.name, or "". It reads the label,
// which may have been set by a user, or the annotation, which is used if the value is too long for a label.
func TemplateOfJob(job client.Object) string {
	return cmp.Or(job.GetLabels()[keys.CreatedByJobTemplate], job.GetAnnotations()[keys.CreatedByJobTemplate])
}
