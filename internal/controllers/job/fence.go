package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// clockSkew is the maximum difference between the clocks of the API server and of this process.
const clockSkew = 10 * time.Second

// catchUp is the time after the start of this process during which its caches may be older than the last writes of an
// earlier process.
const catchUp = 2 * time.Minute

// mayBeOutdated reports whether the cached state of a job may be older than the writes of an earlier process.
func (r *Reconciler) mayBeOutdated(job *batchv1alpha1.Job, now time.Time) bool {
	return now.Sub(r.started) < catchUp && !job.CreationTimestamp.After(r.started.Add(clockSkew))
}

// beginning holds the resource version of the API server shortly before the first write of this process. No earlier
// process has written after that.
type beginning struct {
	mu       sync.Mutex
	revision uint64
}

// isOlderThan reports whether the beginning is older than an object's resourceVersion, that is, whether the object was
// written after the beginning.
func (b *beginning) isOlderThan(ctx context.Context, api client.Reader, resourceVersion string) (bool, error) {
	revision, err := b.readRevision(ctx, api)
	if err != nil {
		return false, err
	}
	version, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && version > revision, nil
}

// readRevision returns the revision of the beginning. It reads the revision from the API server until a request has
// succeeded. Reconciles that start together may all send a request, because no lock is held meanwhile. Each of their
// revisions is valid, because an earlier process writes no more.
func (b *beginning) readRevision(ctx context.Context, api client.Reader) (uint64, error) {
	if revision := b.storedRevision(); revision > 0 {
		return revision, nil
	}
	var one batchv1alpha1.JobList
	if err := api.List(ctx, &one, client.Limit(1)); err != nil {
		return 0, fmt.Errorf("read the revision of the API server: %w", err)
	}
	revision, err := strconv.ParseUint(one.ResourceVersion, 10, 64)
	if err != nil {
		revision = math.MaxUint64 // the revision is not a number, so treat all objects as older
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision = cmp.Or(b.revision, revision)
	return b.revision, nil
}

// storedRevision returns the revision of the beginning, or 0 if it was not read yet.
func (b *beginning) storedRevision() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.revision
}

// errOutdated means that the plan was made from an outdated version of the job.
var errOutdated = errors.New("the cached version of the job is older than this process")

// verifyCurrent verifies that the cached job is current. It does so once for each job that has not changed since this
// process started. This is necessary because the caches of a new process may have been filled from an outdated API
// server. The pods of a resumed job could then be stopped, or the objects of an ended job could be created again. Later
// writes are safe, because this process remembers its own writes and a status write specifies the resourceVersion.
func (a *application) verifyCurrent(ctx context.Context) error {
	if a.known.fenced || a.known.written > 0 {
		return nil
	}
	newer, err := a.began.isOlderThan(ctx, a.api, a.job.ResourceVersion)
	if err != nil {
		return err
	}
	if !newer {
		err = a.compareWithServer(ctx)
	}
	a.known.fenced = err == nil
	return err
}

// compareWithServer reads the job from the API server and returns an error if the cached job is outdated.
func (a *application) compareWithServer(ctx context.Context) error {
	return a.requireOnServer(ctx, errOutdated, func(job *batchv1alpha1.Job) bool { return job.ResourceVersion == a.job.ResourceVersion })
}

// errDeleted means that the plan was made for a job that has been deleted.
var errDeleted = errors.New("the job has been deleted")

// verifyExists reads the job from the API server and returns an error if it was deleted or replaced.
func (a *application) verifyExists(ctx context.Context) error {
	return a.requireOnServer(ctx, errDeleted, func(job *batchv1alpha1.Job) bool { return job.DeletionTimestamp == nil })
}

// requireOnServer reads the job from the API server. It returns otherwise, as an error that disappears soon, if the job does not
// exist, was replaced, or does not satisfy a condition.
func (a *application) requireOnServer(ctx context.Context, otherwise error, satisfies func(*batchv1alpha1.Job) bool) error {
	var job batchv1alpha1.Job
	err := a.api.Get(ctx, client.ObjectKeyFromObject(a.job), &job)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("job %s: %w", a.job.Name, err)
	}
	isSameJob := err == nil && job.UID == a.job.UID
	if !isSameJob || !satisfies(&job) {
		return passingError{otherwise}
	}
	return nil
}
