package admission

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// newJobReader reads jobs from the API server: only those that others are to wait for, so nothing is watched for it.
func newJobReader(config *rest.Config) (client.Reader, error) {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("admission: scheme: %w", err)
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("admission: client of jobs: %w", err)
	}
	return reader, nil
}

// jobLookup answers one request; it is not for concurrent use.
type jobLookup struct {
	ctx    context.Context
	reader client.Reader
	err    error // of a read; what was looked up then is not to be trusted
}

var _ batchv1alpha1.JobLookup = (*jobLookup)(nil)

// Job reads a job by its number, from all namespaces, or by its name.
func (l *jobLookup) Job(r batchv1alpha1.JobReference) *batchv1alpha1.Job {
	ctx, cancel := context.WithTimeout(l.ctx, liveReadTimeout)
	defer cancel()
	if r.ID > 0 {
		jobs := &batchv1alpha1.JobList{}
		if err := l.reader.List(ctx, jobs, client.MatchingLabels{keys.JobID: batchv1alpha1.FormatJobID(r.ID)}); err != nil {
			l.err = fmt.Errorf("job %s: %w", r, err)
			return nil
		}
		if len(jobs.Items) == 0 {
			return nil
		}
		return &jobs.Items[0]
	}
	job := &batchv1alpha1.Job{}
	err := l.reader.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, job)
	if err != nil {
		if !apierrors.IsNotFound(err) {
			l.err = fmt.Errorf("job %s: %w", r, err)
		}
		return nil
	}
	return job
}
