package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// newJobReader returns a client that reads jobs from the API server. It reads only the jobs that other jobs depend on,
// so it needs no watch.
func newJobReader(config *rest.Config) (client.Reader, error) {
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("admission: scheme: %w", err)
	}
	reader, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("admission: client for jobs: %w", err)
	}
	return reader, nil
}

// jobLookup looks up jobs for one request. It is not safe for concurrent use.
type jobLookup struct {
	ctx    context.Context
	reader client.Reader
	err    error // error from a read; if it is set, the results are not reliable

	// namespace is the namespace of the object that is being checked, and user is its author. created is true if a
	// controller created the object for another object.
	namespace string
	user      *authenticationv1.UserInfo
	created   bool
	reviews   Creator[*authorizationv1.SubjectAccessReview]
	known     map[string]bool // whether a job in another namespace may be read, by namespace/name
}

var _ batchv1alpha1.JobLookup = (*jobLookup)(nil)

// Job reads a job by its number or its name. It returns nil for a job in another namespace that the author of the
// request may not read.
func (l *jobLookup) Job(r batchv1alpha1.JobReference) *batchv1alpha1.Job {
	ctx, cancel := context.WithTimeout(l.ctx, liveReadTimeout)
	defer cancel()
	if r.ID > 0 {
		jobs := &batchv1alpha1.JobList{}
		if err := l.reader.List(ctx, jobs, client.MatchingLabels{keys.JobID: batchv1alpha1.FormatJobID(r.ID)}); err != nil {
			l.err = fmt.Errorf("job %s: %w", r, err)
			return nil
		}
		for i := range jobs.Items {
			if job := &jobs.Items[i]; l.isReadable(job.Namespace, job.Name) {
				return job
			}
		}
		return nil
	}
	if !l.isReadable(r.Namespace, r.Name) {
		return nil
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

// annotateNamespaces stores the other namespaces in which a job may wait for jobs in an annotation of the job. These
// are the namespaces of the jobs that its dependency names and that its author may read. The annotation replaces a
// value set by the user. It does not change as long as the dependency does not change.
func (h *hooks) annotateNamespaces(ctx context.Context, request *admission.Request, job *batchv1alpha1.Job) {
	if len(request.OldObject.Raw) > 0 {
		if _, old, err := decodeObjects[batchv1alpha1.Job](*request); err == nil && old.Annotations[keys.Dependency] == job.Annotations[keys.Dependency] {
			setAnnotation(job, old.Annotations[keys.DependencyNamespaces])
			return
		}
	}
	d, err := batchv1alpha1.ParseDependency(job.Annotations[keys.Dependency], request.Namespace)
	if err != nil || h.jobs == nil {
		setAnnotation(job, "") // the check of the job rejects an invalid dependency
		return
	}
	lookup := h.newJobLookup(ctx, request)
	namespaces := map[string]bool{}
	for _, term := range d.Terms {
		if term.Kind == batchv1alpha1.Singleton {
			continue
		}
		if found := lookup.Job(term.Job); found != nil && found.Namespace != request.Namespace {
			namespaces[found.Namespace] = true
		}
	}
	setAnnotation(job, strings.Join(slices.Sorted(maps.Keys(namespaces)), ","))
}

// setAnnotation sets the annotation of annotateNamespaces, or removes it if note is empty.
func setAnnotation(job *batchv1alpha1.Job, note string) {
	if note == "" {
		delete(job.Annotations, keys.DependencyNamespaces)
		return
	}
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[keys.DependencyNamespaces] = note
}
