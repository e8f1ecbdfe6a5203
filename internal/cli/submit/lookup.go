package submit

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
)

// jobLookup finds jobs among the objects to send and on the server.
type jobLookup struct {
	ctx    context.Context
	server client.Client
	files  []*batchv1alpha1.Job
}

var _ batchv1alpha1.JobLookup = (*jobLookup)(nil)

// newJobLookup returns the function that looks up the jobs on which other jobs depend. If no client can be created, it
// returns nil; the server then does the check.
func newJobLookup(ctx context.Context, f *cli.Factory, objects []cli.FileObject) batchv1alpha1.JobLookup {
	server, err := f.Client()
	if err != nil {
		return nil
	}
	lookup := &jobLookup{ctx: ctx, server: server}
	for _, object := range objects {
		job := &batchv1alpha1.Job{}
		if object.Object.GroupVersionKind() == batchv1alpha1.GroupVersion.WithKind("Job") &&
			runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, job) == nil && job.Name != "" {
			lookup.files = append(lookup.files, job)
		}
	}
	return lookup
}

// unknown stands for a job that the user may not read; it passes all checks.
var unknown = &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}}}

func (l *jobLookup) Job(r batchv1alpha1.JobReference) *batchv1alpha1.Job {
	if r.ID > 0 {
		jobs := &batchv1alpha1.JobList{}
		if err := l.server.List(l.ctx, jobs, client.MatchingLabels{keys.JobID: batchv1alpha1.FormatJobID(r.ID)}); err != nil {
			return unknown
		}
		if len(jobs.Items) == 0 {
			return nil
		}
		return &jobs.Items[0]
	}
	for _, job := range l.files {
		if r.Names(job) {
			return job
		}
	}
	job := &batchv1alpha1.Job{}
	switch err := l.server.Get(l.ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, job); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return unknown
	}
	return job
}
