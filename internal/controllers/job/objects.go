package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// ensureObjects creates and updates the objects of the job's plugins. It reads them from the API server and not from
// the cache, so that the controller need not watch all Secrets.
func (a *application) ensureObjects(ctx context.Context, w plan.EnsureObjects) error {
	if a.known.ensured == w.Key {
		return nil
	}
	for _, o := range a.plugins.Objects(a.plan.Job) {
		if err := a.ensureObject(ctx, o); err != nil {
			return err
		}
	}
	a.known.ensured = w.Key
	return nil
}

func (a *application) ensureObject(ctx context.Context, o pluginapi.Object) error {
	there, err := a.findExisting(ctx, o.Wanted)
	if err != nil {
		return err
	}
	if there != nil && a.isLeftBehind(there) {
		if err := a.deleteObject(ctx, there); err != nil {
			return err
		}
		return passingError{fmt.Errorf("%T %s: the object of an older job with this name is being deleted", o.Wanted, o.Wanted.GetName())}
	}
	if there != nil && !metav1.IsControlledBy(there, a.job) {
		return a.handleForeign(o, there)
	}
	write, changed, err := o.Merge(there, rand.Reader)
	if err != nil || !changed {
		return err
	}
	if there == nil {
		err = ignoreExists(a.createObject(ctx, write))
	} else {
		err = a.api.Update(ctx, write)
	}
	if err != nil {
		return fmt.Errorf("%T %s: %w", o.Wanted, o.Wanted.GetName(), err)
	}
	return nil
}

// handleForeign handles an object that has a wanted name but was not created for the job. It leaves the object
// unchanged and informs the user by an event or, if the job cannot start without its own object, by an error.
func (a *application) handleForeign(o pluginapi.Object, there client.Object) error {
	what := fmt.Sprintf("%s %s exists but was not created for this job", kindOfObject(there), there.GetName())
	if o.Foreign == nil {
		return fmt.Errorf("%s, so vc does not change this object; delete the object, or give the job another name", what)
	}
	if warning := o.Foreign(there); warning != "" {
		a.recordEvent(plan.Event{Type: corev1.EventTypeWarning, Reason: string(batchv1alpha1.PluginError), Message: what + ": " + warning + "; delete the object, or give the job another name"})
	}
	return nil
}

// kindOfObject returns the kind of a typed object, whose TypeMeta may be empty.
func kindOfObject(o client.Object) string { return reflect.TypeOf(o).Elem().Name() }

// findExisting returns the existing object with the same name as the wanted object, or nil if none exists.
func (a *application) findExisting(ctx context.Context, wanted client.Object) (client.Object, error) {
	there := reflect.New(reflect.TypeOf(wanted).Elem()).Interface().(client.Object)
	err := a.api.Get(ctx, client.ObjectKeyFromObject(wanted), there)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%T %s: %w", wanted, wanted.GetName(), err)
	}
	return there, nil
}

func (a *application) removeObjects(ctx context.Context) error {
	a.known.ensured = ""
	for _, o := range a.plugins.Objects(a.plan.Job) {
		there, err := a.findExisting(ctx, o.Wanted)
		if err != nil {
			return err
		}
		if there == nil || !metav1.IsControlledBy(there, a.job) {
			continue
		}
		if err := a.deleteObject(ctx, there); err != nil {
			return fmt.Errorf("%T %s: %w", o.Wanted, o.Wanted.GetName(), err)
		}
	}
	return nil
}
