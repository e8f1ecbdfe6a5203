package wait

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// NewJobList returns an empty list of jobs.
func NewJobList() client.ObjectList { return &batchv1alpha1.JobList{} }

// FollowJob calls see with the current job, and again after every change, until see returns true; see cli.FollowObject.
func FollowJob(ctx context.Context, c client.WithWatch, key types.NamespacedName, uid types.UID, see func(*batchv1alpha1.Job) (bool, error)) error {
	return cli.FollowObject(ctx, c, NewJobList, key, uid, see)
}

// ReadNamed reads a job and the resource version from which to watch it; see cli.ReadNamedObject.
func ReadNamed(ctx context.Context, c client.Client, key types.NamespacedName, uid types.UID) (*batchv1alpha1.Job, string, error) {
	return cli.ReadNamedObject[*batchv1alpha1.Job](ctx, c, NewJobList(), key, uid)
}

// HasFailedElements reports whether the job is an array that completed although some of its elements failed.
func HasFailedElements(job *batchv1alpha1.Job) bool {
	return jobstatus.PhaseOrPending(job) == batchv1alpha1.Completed && job.Status.Array != nil && job.Status.Array.Failed != ""
}

// FailedElementsError returns the error about an array that completed although some of its elements failed.
func FailedElementsError(f *cli.Factory, job *batchv1alpha1.Job) *usererror.Error {
	return usererror.Errorf(f.CommandText("job view "+job.Name)+"; "+f.CommandText("job logs "+job.Name), "job %q completed, but %s", job.Name, jobstatus.ExplainJob(job, nil).Message)
}
