package job

import (
	"context"
	"errors"

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
		job, version, err := readNamed(ctx, c, key, uid)
		if err != nil {
			return err
		}
		if enough, err := see(job); enough || err != nil {
			return err
		}
		watcher, err := c.Watch(ctx, &batchv1alpha1.JobList{}, client.InNamespace(key.Namespace), named(key.Name), since(version))
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

// readNamed reads a job, with the version to watch it from: that of the list, for
// the server may have forgotten what followed the version of an old job. It is
// errGone when there is no such job, or another one of its name.
func readNamed(ctx context.Context, c client.Client, key types.NamespacedName, uid types.UID) (*batchv1alpha1.Job, string, error) {
	list := &batchv1alpha1.JobList{}
	if err := c.List(ctx, list, client.InNamespace(key.Namespace), named(key.Name)); err != nil {
		return nil, "", err
	}
	if len(list.Items) == 0 || (uid != "" && list.Items[0].UID != uid) {
		return nil, "", errGone
	}
	return &list.Items[0], list.ResourceVersion, nil
}

// named selects the one object of a name.
func named(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// since makes a watch begin after a version.
func since(version string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
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

// waitForVerb waits until a Command has taken effect on the job.
func waitForVerb(ctx context.Context, f *cli.Factory, c client.WithWatch, job *batchv1alpha1.Job, wait cli.Wait, v *verb) error {
	limited, cancel := withTimeout(ctx, wait)
	defer cancel()
	last := phaseOf(job)
	err := follow(limited, c, client.ObjectKeyFromObject(job), job.UID, func(now *batchv1alpha1.Job) (bool, error) {
		last = phaseOf(now)
		if v.reached(job, now) {
			return true, nil
		}
		if finished(last) {
			return false, cli.Errorf(f.Typed("job view "+job.Name), "job %q ended as %s instead of being %s", job.Name, last, v.done)
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
