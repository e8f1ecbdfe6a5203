package kube

import (
	"errors"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/model/apiobject"
)

// store presents the model's objects of one kind to client-go's listers. It implements only the methods that the
// listers and plugins call. Any other method panics, because the embedded interface is nil.
type store[T metav1.Object] struct {
	cache.Indexer
	objects  func() *apiobject.Store[T]
	indexers cache.Indexers
	// by returns the keys of the objects with a given value in an index. It is nil if there are no indexes.
	by func(index, value string) []string

	list    []any // sorted by key; valid for generation listGen
	listGen uint64
	of      *apiobject.Store[T]
}

func newStore[T metav1.Object](objects func() *apiobject.Store[T]) *store[T] {
	return &store[T]{objects: objects, indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}}
}

// List returns all objects, sorted by key. The caller must not change the result.
func (s *store[T]) List() []any {
	o := s.objects()
	if s.of != o || s.listGen != o.Gen {
		s.of, s.listGen, s.list = o, o.Gen, s.lookUpKeys(o.Keys())
	}
	return s.list
}

// GetByKey returns the object with the given key.
func (s *store[T]) GetByKey(key string) (any, bool, error) {
	v, ok := s.objects().Get(key)
	if !ok {
		return nil, false, nil
	}
	return v, true, nil
}

// ByIndex returns the objects with a given value in an index, sorted by key.
func (s *store[T]) ByIndex(index, value string) ([]any, error) {
	if index == cache.NamespaceIndex {
		return slices.DeleteFunc(slices.Clone(s.List()), func(v any) bool { return v.(T).GetNamespace() != value }), nil
	}
	if s.by == nil {
		return nil, errors.New("index " + index + " does not exist")
	}
	return s.lookUpKeys(s.by(index, value)), nil
}

// Index returns the objects that have the same value in an index as another object.
func (s *store[T]) Index(index string, like any) ([]any, error) {
	o, ok := like.(metav1.Object)
	if !ok || index != cache.NamespaceIndex {
		return nil, errors.New("index " + index + " does not exist")
	}
	return s.ByIndex(index, o.GetNamespace())
}

// GetIndexers returns the indexes.
func (s *store[T]) GetIndexers() cache.Indexers { return s.indexers }

// AddIndexers records the indexes. Only their names are used, because the model does the lookup.
func (s *store[T]) AddIndexers(indexers cache.Indexers) error {
	for name, f := range indexers {
		s.indexers[name] = f
	}
	return nil
}

func (s *store[T]) lookUpKeys(keys []string) []any {
	o := s.objects()
	out := make([]any, 0, len(keys))
	for _, key := range keys {
		if v, ok := o.Get(key); ok {
			out = append(out, v)
		}
	}
	return out
}

// mergeSortedKeys merges sorted lists of keys into one sorted list.
func mergeSortedKeys(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		if len(list) == 0 {
			continue
		}
		if len(all) == 0 {
			all = list
			continue
		}
		all = append(slices.Clone(all), list...)
		slices.SortFunc(all, strings.Compare)
		all = slices.Compact(all)
	}
	return all
}

// informer implements cache.SharedIndexInformer without a goroutine. Its store is a view of the model.
type informer struct {
	cache.SharedIndexInformer
	indexer cache.Indexer
}

// GetIndexer returns the view of the model.
func (i *informer) GetIndexer() cache.Indexer { return i.indexer }

// GetStore returns the view of the model.
func (i *informer) GetStore() cache.Store { return i.indexer }

// AddIndexers adds indexes to the view.
func (i *informer) AddIndexers(indexers cache.Indexers) error { return i.indexer.AddIndexers(indexers) }

// AddEventHandler does nothing, because the view always shows the current state and there are no events.
func (i *informer) AddEventHandler(cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return nil, nil //nolint:nilnil // callers never use the registration
}
