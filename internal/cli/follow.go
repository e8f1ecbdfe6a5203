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
)

// ErrGone says that an object was deleted while it was followed.
var ErrGone = errors.New("the object was deleted")

// Deleted says that an object, the only one of a name, went while a command waited for it or followed it; noun is the word
// of its commands.
func (f *Factory) Deleted(kind, noun, name string) *Error {
	e := Errorf("`"+f.Typed(noun+" list")+"` shows what is there", "%s %q was deleted meanwhile", kind, name)
	e.Err = ErrGone
	return e
}

// Follow calls see with an object now and whenever it changes, until see says that it
// has seen enough. It ends with ErrGone when the object, known by its UID, is deleted.
// NewList makes an empty list of its kind.
func Follow[T client.Object](ctx context.Context, c client.WithWatch, newList func() client.ObjectList, key types.NamespacedName, uid types.UID, see func(T) (bool, error)) error {
	for {
		object, version, err := ReadNamed[T](ctx, c, newList(), key, uid)
		if err != nil {
			return err
		}
		if enough, err := see(object); enough || err != nil {
			return err
		}
		watcher, err := c.Watch(ctx, newList(), client.InNamespace(key.Namespace), Named(key.Name), Since(version))
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

// ReadNamed reads an object into a list, with the version to watch it from: that of the
// list, for the server may have forgotten what followed the version of an old object. It
// is ErrGone when there is none of the name, or another one than that of the UID.
func ReadNamed[T client.Object](ctx context.Context, c client.Client, list client.ObjectList, key types.NamespacedName, uid types.UID) (object T, version string, err error) {
	if err := c.List(ctx, list, client.InNamespace(key.Namespace), Named(key.Name)); err != nil {
		return object, "", err
	}
	objects, err := Objects(list)
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

// Named selects the one object of a name.
func Named(name string) client.ListOption {
	return client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("metadata.name", name)}
}

// Since makes a watch begin after a version.
func Since(version string) client.ListOption {
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

// WatchOn calls see with every change of the objects of a kind, as long as ctx lasts and see wants more. API servers end a
// watch after a while: it goes on from the last version; where the server has forgotten that, from what again returns,
// which reads everything anew. A nil again goes on from all that there are, as if they had just come.
func WatchOn[T client.Object](ctx context.Context, c client.WithWatch, newList func() client.ObjectList, version string,
	again func(context.Context) (string, error), see func(watch.EventType, T) bool, options ...client.ListOption) error {
	for ctx.Err() == nil {
		watcher, err := c.Watch(ctx, newList(), append(slices.Clone(options), Since(version))...)
		if err == nil {
			version, err = watchOn(ctx, watcher, version, see)
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

// errEnough ends a watch of which enough was seen.
var errEnough = errors.New("enough")

// watchOn follows one watch to its end, and returns the version that it saw last.
func watchOn[T client.Object](ctx context.Context, watcher watch.Interface, version string, see func(watch.EventType, T) bool) (string, error) {
	for {
		select {
		case <-ctx.Done():
			return version, errEnough
		case event, open := <-watcher.ResultChan():
			if !open {
				return version, nil
			}
			if event.Type == watch.Error {
				if err := apierrors.FromObject(event.Object); !watchEnded(err) {
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
