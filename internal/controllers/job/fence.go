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

// clockSkew is the maximum difference between the clocks of the API server and of this process.
const clockSkew = 10 * time.Second

// catchUp is how long after the start of this process its caches may be older than the last writes of an earlier
// process.
const catchUp = 2 * time.Minute

// doubts reports whether the cached state of a job may be older than the writes of an earlier process.
func (r *Reconciler) doubts(job *batch.Job, now time.Time) bool {
	return now.Sub(r.started) < catchUp && !job.CreationTimestamp.After(r.started.Add(clockSkew))
}

// beginning holds the resource version of the API server shortly before the first write of this process. No earlier
// process wrote after that.
type beginning struct {
	mu       sync.Mutex
	revision uint64
}

// before reports whether an object with this resourceVersion was written after the beginning. It sends one request per
// process.
func (b *beginning) before(ctx context.Context, api client.Reader, resourceVersion string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.revision == 0 {
		var one batch.JobList
		if err := api.List(ctx, &one, client.Limit(1)); err != nil {
			return false, fmt.Errorf("revision of the API server: %w", err)
		}
		b.revision = math.MaxUint64 // if the revision is not a number, no object counts as newer
		if at, err := strconv.ParseUint(one.ResourceVersion, 10, 64); err == nil {
			b.revision = at
		}
	}
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && version > b.revision, nil
}

// errOutdated reports that the plan was made from an outdated job.
var errOutdated = errors.New("the cache shows the job as it was before this process began")

// fence verifies that the cached job is current. It does so once per job that has not changed since this process
// started. The caches of a new process may be filled from an outdated API server; then the pods of a job that was
// resumed since would be stopped, or the objects of an ended job would be created again. The own writes of this process
// are remembered, and a status write carries the resourceVersion.
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

// compare reads the job past the cache and returns an error if the cached job is outdated.
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
