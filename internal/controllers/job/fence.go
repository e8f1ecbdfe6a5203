package job

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// clockSkew is how far the API server's clock may be from ours.
const clockSkew = 10 * time.Second

// catchUp is how long after the start of this process its caches may still be behind what an earlier process knew.
const catchUp = 2 * time.Minute

// doubts says whether what the caches show of a job may be older than what an earlier process has done about it.
func (r *Reconciler) doubts(job *batch.Job, now time.Time) bool {
	return now.Sub(r.started) < catchUp && !job.CreationTimestamp.After(r.started.Add(clockSkew))
}

// errOutdated says that the plan was made from a job as it was once.
var errOutdated = errors.New("the cache shows the job as it was before this process began")

// fence makes sure, once for a job that is older than this process, that the job is as the cache shows it. The caches of a new process may be
// filled by an API server that is behind: the pods of a job that was resumed since would be stopped, the objects of one that has
// ended would be made again. Later writes of ours are remembered, and a status carries its resourceVersion.
func (a *application) fence(ctx context.Context) error {
	if a.known.fenced || a.known.written > 0 || a.job.CreationTimestamp.After(a.started.Add(clockSkew)) {
		return nil
	}
	var job batch.Job
	err := a.api.Get(ctx, client.ObjectKeyFromObject(a.job), &job)
	switch {
	case apierrors.IsNotFound(err), err == nil && (job.UID != a.job.UID || job.ResourceVersion != a.job.ResourceVersion):
		return soon{errOutdated}
	case err != nil:
		return fmt.Errorf("job %s: %w", a.job.Name, err)
	}
	a.known.fenced = true
	return nil
}
