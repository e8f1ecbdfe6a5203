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

// Store holds objects by Key. It implements the reading part of a cache.
type Store map[string]client.Object

// Key returns the key of an object by kind and name.
func Key(kind string, name types.NamespacedName) string { return kind + " " + name.String() }

// KeyOf returns the key of an object.
func KeyOf(o client.Object) string { return Key(Kind(o), client.ObjectKeyFromObject(o)) }

// Kind returns the kind of an object. For a list, it returns the kind of its items with the suffix List.
func Kind(o any) string { return reflect.TypeOf(o).Elem().Name() }

// Get copies the object with this name.
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

// List fills a list sorted by name. It supports namespaces, labels and the indexes of the controllers. Like a real
// cache, it does not copy the objects if the options request that.
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

// indexes are the indexes of the controllers.
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

// Follow applies a change, as a cache does.
func (s Store) Follow(c Change) {
	if c.Object == nil {
		delete(s, KeyOf(c.Old))
	} else {
		s[KeyOf(c.Object)] = c.Object
	}
}

// CatchUp updates all objects of one kind in this cache to the state of now. It returns the objects that were deleted.
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
