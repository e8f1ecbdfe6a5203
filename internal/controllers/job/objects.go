package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/kit"
)

// ensureObjects makes and refreshes what the job's plugins need. They are read past the cache: nobody watches all Secrets for this.
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

func (a *application) ensureObject(ctx context.Context, o kit.Object) error {
	there, err := a.look(ctx, o.Wanted)
	if err != nil {
		return err
	}
	if there != nil && a.leftBehind(there) {
		if err := a.delete(ctx, there); err != nil {
			return err
		}
		return soon{fmt.Errorf("%T %s: that of an older job of this name is being removed", o.Wanted, o.Wanted.GetName())}
	}
	if there != nil && metav1.GetControllerOf(there) != nil && !metav1.IsControlledBy(there, a.job) {
		return fmt.Errorf("%T %s: the name belongs to an object that is not this job's", o.Wanted, o.Wanted.GetName())
	}
	write, changed, err := o.Merge(there, rand.Reader)
	if err != nil || !changed {
		return err
	}
	if there == nil {
		err = ignoreExists(a.api.Create(ctx, write))
	} else {
		err = a.api.Update(ctx, write)
	}
	if err != nil {
		return fmt.Errorf("%T %s: %w", o.Wanted, o.Wanted.GetName(), err)
	}
	return nil
}

// look gets the object that has the name of the wanted one; nil when there is none.
func (a *application) look(ctx context.Context, wanted client.Object) (client.Object, error) {
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
		there, err := a.look(ctx, o.Wanted)
		if err != nil {
			return err
		}
		if there == nil || !metav1.IsControlledBy(there, a.job) {
			continue
		}
		if err := a.delete(ctx, there); err != nil {
			return fmt.Errorf("%T %s: %w", o.Wanted, o.Wanted.GetName(), err)
		}
	}
	return nil
}
