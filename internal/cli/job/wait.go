package job

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// errGone is the error for a job that was deleted during a wait.
var errGone = cli.ErrGone

func newJobList() client.ObjectList { return &batchv1alpha1.JobList{} }

// followJobUntil calls see with the current job and after every change until see returns true; see cli.FollowObject.
func followJobUntil(ctx context.Context, c client.WithWatch, key types.NamespacedName, uid types.UID, see func(*batchv1alpha1.Job) (bool, error)) error {
	return cli.FollowObject(ctx, c, newJobList, key, uid, see)
}

// readNamed reads a job and the resource version to watch it from; see cli.ReadNamedObject.
func readNamed(ctx context.Context, c client.Client, key types.NamespacedName, uid types.UID) (*batchv1alpha1.Job, string, error) {
	return cli.ReadNamedObject[*batchv1alpha1.Job](ctx, c, newJobList(), key, uid)
}

// waitForVerb waits until the Command has taken effect on the job.
func waitForVerb(ctx context.Context, f *cli.Factory, c client.WithWatch, job *batchv1alpha1.Job, wait cli.Wait, v *verb) error {
	limited, cancel := wait.LimitContext(ctx)
	defer cancel()
	last := phaseOf(job)
	busy := f.Streams.StartBusyLine("waiting for job " + job.Name)
	defer busy.RemoveLine()
	err := followJobUntil(limited, f.RetryingClient(c), client.ObjectKeyFromObject(job), job.UID, func(now *batchv1alpha1.Job) (bool, error) {
		last = phaseOf(now)
		busy.SetText("waiting for job %s: %s", job.Name, last)
		if v.HasTakenEffect(job, now) {
			return true, nil
		}
		if finished(last) {
			return false, usererror.Errorf(f.CommandText("job view "+job.Name), "job %q ended as %s instead of being %s", job.Name, last, v.Done)
		}
		return false, nil
	})
	if errors.Is(err, errGone) {
		return f.DeletedError("job", "job", job.Name)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return wait.TimeoutError("job "+job.Name, string(last))
	}
	return err
}
