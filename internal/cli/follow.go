package cli

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

	"github.com/vc-batch/vc/internal/usererror"
)

// ErrGone is the error for an object that was deleted while a command was following it.
var ErrGone = errors.New("the object was deleted")

// DeletedError returns the error for an object that was deleted while a command was waiting for it or following it.
// noun is the vcctl noun for objects of its kind.
func (f *Factory) DeletedError(kind, noun, name string) *usererror.Error {
	e := usererror.Errorf("`"+f.CommandText(noun+" list")+"` lists the existing objects", "%s %q was deleted in the meantime", kind, name)
	e.Err = ErrGone
	return e
}

// FollowObject calls see with the current object, and again after every change, until see returns true. It returns
// ErrGone if the object with the given UID is deleted. newList returns an empty list of the object's kind.
func FollowObject[T client.Object](ctx context.Context, c client.WithWatch, newList func() client.ObjectList, key types.NamespacedName, uid types.UID, see func(T) (bool, error)) error {
	for {
		object, version, err := ReadNamedObject[T](ctx, c, newList(), key, uid)
		if err != nil {
			return err
		}
		if enough, err := see(object); enough || err != nil {
			return err
		}
		watcher, err := c.Watch(ctx, newList(), client.InNamespace(key.Namespace), MatchingName(key.Name), StartingAt(version))
		if err != nil {
			return err
		}
		enough, err := followWatch(ctx, watcher, object.GetUID(), see)
		watcher.Stop()
		if enough || err != nil {
			return err
		}
	}
}

// ReadNamedObject reads an object by means of a list. It returns the object and the list's resource version, from which
// the caller can start a watch. The object's own version is unsuitable because the server may no longer have the
// history since an old version. ReadNamedObject returns ErrGone if no object has the name, or if the object with the
// name has another UID.
func ReadNamedObject[T client.Object](ctx context.Context, c client.Client, list client.ObjectList, key types.NamespacedName, uid types.UID) (object T, version string, err error) {
	if err := c.List(ctx, list, client.InNamespace(key.Namespace), MatchingName(key.Name)); err != nil {
		return object, "", err
	}
	objects, err := ExtractObjects(list)
	if err != nil {
		return object, "", err
	}
	if len(objects) == 0 || (uid != "" && objects[0].GetUID() != uid) {
		return object, "", ErrGone
	}
	object, ok := objects[0].(T)
	if !ok {
		return object, "", ErrGone
	}
	return object, list.GetResourceVersion(), nil
}

// WaitForObject follows an object until isReached returns true for it, for at most --timeout. It returns the last state
// of the object. noun is both the vcctl noun and the name of the kind in messages; describeState describes the state of
// an object that did not meet the condition in time.
func WaitForObject[T client.Object](ctx context.Context, f *Factory, c client.WithWatch, wait *Wait, noun string, newList func() client.ObjectList, object T,
	isReached func(T) (bool, error), describeState func(T) string) (last T, err error) {
	limited, cancel := wait.LimitContext(ctx)
	defer cancel()
	last = object
	err = FollowObject(limited, f.RetryingClient(c), newList, client.ObjectKeyFromObject(object), object.GetUID(), func(now T) (bool, error) {
		last = now
		return isReached(now)
	})
	switch {
	case errors.Is(err, ErrGone):
		return last, f.DeletedError(noun, noun, object.GetName())
	case limited.Err() != nil && ctx.Err() == nil:
		return last, wait.TimeoutError(noun+" "+object.GetName(), describeState(last))
	}
	return last, err
}

// WaitForDeletion waits until an object no longer exists, for at most --timeout.
func WaitForDeletion[T client.Object](ctx context.Context, f *Factory, c client.WithWatch, wait *Wait, noun string, newList func() client.ObjectList, object T) error {
	limited, cancel := wait.LimitContext(ctx)
	defer cancel()
	never := func(T) (bool, error) { return false, nil }
	err := FollowObject(limited, f.RetryingClient(c), newList, client.ObjectKeyFromObject(object), object.GetUID(), never)
	switch {
	case errors.Is(err, ErrGone):
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return wait.TimeoutError("the deletion of "+noun+" "+object.GetName(), "the object still exists")
	}
	return err
}

// MatchingName returns a list option that selects the object with the given name.
func MatchingName(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// StartingAt returns a list option that starts a watch after a resource version.
func StartingAt(version string) client.ListOption {
	return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: version}}
}

func followWatch[T client.Object](ctx context.Context, watcher watch.Interface, uid types.UID, see func(T) (bool, error)) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case event, open := <-watcher.ResultChan():
			object, ok := event.Object.(T)
			if !open || !ok {
				return false, nil
			}
			if event.Type == watch.Deleted || object.GetUID() != uid {
				return false, ErrGone
			}
			if enough, err := see(object); enough || err != nil {
				return enough, err
			}
		}
	}
}

// WatchChanges calls see for every change to the objects of a kind until ctx is done or see returns false. API servers
// end watches after some time; WatchChanges then continues from the last resource version. If the server no longer has
// that version, WatchChanges calls again, which must read everything again, and continues from the version that it
// returns. If again is nil, WatchChanges starts over with all existing objects, as if they had just been added.
func WatchChanges[T client.Object](ctx context.Context, c client.WithWatch, newList func() client.ObjectList, version string,
	again func(context.Context) (string, error), see func(watch.EventType, T) bool, options ...client.ListOption) error {
	for ctx.Err() == nil {
		watcher, err := c.Watch(ctx, newList(), append(slices.Clone(options), StartingAt(version))...)
		if err == nil {
			version, err = followChanges(ctx, watcher, version, see)
			watcher.Stop()
		}
		switch {
		case apierrors.IsResourceExpired(err) || apierrors.IsGone(err):
			version = ""
			if again != nil {
				if version, err = again(ctx); err != nil {
					return err
				}
			}
		case errors.Is(err, errEnough):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// errEnough ends a watch whose callback does not need more events.
var errEnough = errors.New("enough")

// followChanges follows a watch until it ends. It returns the last resource version that it received.
func followChanges[T client.Object](ctx context.Context, watcher watch.Interface, version string, see func(watch.EventType, T) bool) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, errEnough
		case event, open := <-watcher.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				if err := apierrors.FromObject(event.Object); !isWatchBroken(err) {
					return version, err
				}
				return version, nil
			}
			object, ok := event.Object.(T)
			if !ok {
				continue
			}
			version = object.GetResourceVersion()
			if event.Type != watch.Bookmark && !see(event.Type, object) {
				return version, errEnough
			}
		}
	}
}
