package job

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// errGone says that the job was deleted while it was waited for.
var errGone = errors.New("the job was deleted")

// follow calls see with the job now and whenever it changes, until see says
// that it has seen enough. It ends with errGone when the job, known by its UID,
// is deleted.
func follow(ctx context.Context, c client.WithWatch, key types.NamespacedName, uid types.UID, see func(*batchv1alpha1.Job) (bool, error)) error {
	for {
		job := &batchv1alpha1.Job{}
		err := c.Get(ctx, key, job)
		if apierrors.IsNotFound(err) || (err == nil && uid != "" && job.UID != uid) {
			return errGone
		}
		if err != nil {
			return err
		}
		if enough, err := see(job); enough || err != nil {
			return err
		}
		watcher, err := c.Watch(ctx, &batchv1alpha1.JobList{}, client.InNamespace(key.Namespace),
			client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", key.Name)},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: job.ResourceVersion}})
		if err != nil {
			return err
		}
		enough, err := followWatch(ctx, watcher, job.UID, see)
		watcher.Stop()
		if enough || err != nil {
			return err
		}
	}
}

func followWatch(ctx context.Context, watcher watch.Interface, uid types.UID, see func(*batchv1alpha1.Job) (bool, error)) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case event, open := <-watcher.ResultChan():
			job, ok := event.Object.(*batchv1alpha1.Job)
			if !open || !ok {
				return false, nil
			}
			if event.Type == watch.Deleted || job.UID != uid {
				return false, errGone
			}
			if enough, err := see(job); enough || err != nil {
				return enough, err
			}
		}
	}
}

// waitForPhase waits until the job is in one of the phases.
func waitForPhase(ctx context.Context, f *cli.Factory, c client.WithWatch, job *batchv1alpha1.Job, wait cli.Wait, done string, wanted ...batchv1alpha1.JobPhase) error {
	limited, cancel := withTimeout(ctx, wait)
	defer cancel()
	last := phaseOf(job)
	err := follow(limited, c, client.ObjectKeyFromObject(job), job.UID, func(now *batchv1alpha1.Job) (bool, error) {
		last = phaseOf(now)
		if slices.Contains(wanted, last) {
			return true, nil
		}
		if finished(last) {
			return false, cli.Errorf(f.Typed("job view "+job.Name), "job %q ended as %s instead of being %s", job.Name, last, done)
		}
		return false, nil
	})
	if errors.Is(err, errGone) {
		return cli.Errorf("", "job %q was deleted while it was waited for", job.Name)
	}
	if limited.Err() != nil && ctx.Err() == nil {
		return wait.TimedOut("job "+job.Name, string(last))
	}
	return err
}

func withTimeout(ctx context.Context, wait cli.Wait) (context.Context, context.CancelFunc) {
	if wait.Timeout > 0 {
		return context.WithTimeout(ctx, wait.Timeout)
	}
	return context.WithCancel(ctx)
}
