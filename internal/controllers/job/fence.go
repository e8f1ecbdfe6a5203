package job

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
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

// beginning is the revision of all that the API server keeps, as it was when this process was about to write for the first time. What is newer was
// written when no earlier process wrote any more.
type beginning struct {
	mu       sync.Mutex
	revision uint64
}

// before says whether an object of this resourceVersion was written since. One request of the whole process answers it.
func (b *beginning) before(ctx context.Context, api client.Reader, resourceVersion string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.revision == 0 {
		var one batch.JobList
		if err := api.List(ctx, &one, client.Limit(1)); err != nil {
			return false, fmt.Errorf("revision of the API server: %w", err)
		}
		b.revision = math.MaxUint64 // nothing is newer than what is no number
		if at, err := strconv.ParseUint(one.ResourceVersion, 10, 64); err == nil {
			b.revision = at
		}
	}
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && version > b.revision, nil
}

// errOutdated says that the plan was made from a job as it was once.
var errOutdated = errors.New("the cache shows the job as it was before this process began")

// fence makes sure, once for a job that nobody has changed since this process began, that the job is as the cache shows it. The caches of a new process may be
// filled by an API server that is behind: the pods of a job that was resumed since would be stopped, the objects of one that has
// ended would be made again. Later writes of ours are remembered, and a status carries its resourceVersion.
func (a *application) fence(ctx context.Context) error {
	if a.known.fenced || a.known.written > 0 {
		return nil
	}
	newer, err := a.began.before(ctx, a.api, a.job.ResourceVersion)
	if err != nil {
		return err
	}
	if !newer {
		err = a.compare(ctx)
	}
	a.known.fenced = err == nil
	return err
}

// compare reads the job past the cache.
func (a *application) compare(ctx context.Context) error {
	var job batch.Job
	err := a.api.Get(ctx, client.ObjectKeyFromObject(a.job), &job)
	switch {
	case apierrors.IsNotFound(err), err == nil && (job.UID != a.job.UID || job.ResourceVersion != a.job.ResourceVersion):
		return soon{errOutdated}
	case err != nil:
		return fmt.Errorf("job %s: %w", a.job.Name, err)
	}
	return nil
}
