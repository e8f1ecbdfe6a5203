package fakeapi

import (
	"context"
	"maps"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/controllers/index"
)

// Store is what there is, by Key. It reads like a cache.
type Store map[string]client.Object

// Key is the key of an object of this kind and name.
func Key(kind string, name types.NamespacedName) string { return kind + " " + name.String() }

// KeyOf is the key of an object.
func KeyOf(o client.Object) string { return Key(Kind(o), client.ObjectKeyFromObject(o)) }

// Kind is the kind of an object, or of a list of it with List at its end.
func Kind(o any) string { return reflect.TypeOf(o).Elem().Name() }

// Get copies the object of this name.
func (s Store) Get(_ context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	there := s[Key(Kind(o), name)]
	if there == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: Kind(o)}, name.Name)
	}
	copyInto(there, o)
	return nil
}

func copyInto(from, to client.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

// List fills a list in the order of names, by namespace, labels and the indexes of the controllers. As of a real cache it is no copy when that is asked for.
func (s Store) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	kind := Kind(list)
	kind = kind[:len(kind)-len("List")]
	shared := o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
	var found []runtime.Object
	for _, key := range slices.Sorted(maps.Keys(s)) {
		object := s[key]
		switch {
		case Kind(object) != kind, o.Namespace != "" && object.GetNamespace() != o.Namespace,
			o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(object.GetLabels())), !indexed(object, &o):
		case shared:
			found = append(found, object)
		default:
			found = append(found, object.DeepCopyObject())
		}
	}
	return meta.SetList(list, found)
}

// indexes are those of the controllers, made once.
var indexes = index.All()

func indexed(o client.Object, opts *client.ListOptions) bool {
	if opts.FieldSelector == nil {
		return true
	}
	for _, requirement := range opts.FieldSelector.Requirements() {
		for _, i := range indexes {
			if i.Name == requirement.Field && !slices.Contains(i.Values(o), requirement.Value) {
				return false
			}
		}
	}
	return true
}

// Follow takes over a change, as a cache does.
func (s Store) Follow(c Change) {
	if c.Object == nil {
		delete(s, KeyOf(c.Old))
	} else {
		s[KeyOf(c.Object)] = c.Object
	}
}

// CatchUp makes what this cache shows of a kind what there is. It gives the objects that it showed and that are gone.
func (s Store) CatchUp(now Store, kind string) (gone []client.Object) {
	for _, key := range slices.Sorted(maps.Keys(s)) {
		if o := s[key]; Kind(o) == kind && now[key] == nil {
			gone = append(gone, o)
			delete(s, key)
		}
	}
	for key, o := range now {
		if Kind(o) == kind {
			s[key] = o
		}
	}
	return gone
}
