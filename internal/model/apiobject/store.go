package apiobject

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Store holds the API objects of one kind by key, which is the name or namespace/name. Objects are never changed,
// only replaced. While a decision about an object is unconfirmed, Get and VisitObjects return the assumed version of
// the object.
type Store[T metav1.Object] struct {
	// Gen is the generation of the last change to any object.
	Gen uint64

	seen    map[string]T
	assumed map[string]assumption[T]
	gens    map[string]uint64
	// groups maps the name of each group to the sorted keys of its objects. It is an index for lookups.
	groups map[string][]string
	// groupsOf returns the groups of an object; it is nil if there is no index.
	groupsOf func(T) []string
}

// assumption is the expected state of an object after a decision has been carried out.
type assumption[T metav1.Object] struct {
	object T
	by     types.UID // the pod for which the decision was made
}

// IndexBy sets the function that returns the groups of an object. Call it before the first object is stored.
func (o *Store[T]) IndexBy(groupsOf func(T) []string) { o.groupsOf = groupsOf }

// Key returns the key under which an object is stored.
func Key(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// Get returns the object with the given key, or its assumed version if there is one.
func (o *Store[T]) Get(key string) (T, bool) {
	if a, ok := o.assumed[key]; ok {
		return a.object, true
	}
	v, ok := o.seen[key]
	return v, ok
}

// Len returns the number of objects.
func (o *Store[T]) Len() int { return len(o.seen) }

// GenerationOf returns the generation of the last change to one key; 0 if it never changed.
func (o *Store[T]) GenerationOf(key string) uint64 { return o.gens[key] }

// Keys returns all keys, sorted.
func (o *Store[T]) Keys() []string {
	keys := make([]string, 0, len(o.seen))
	for key := range o.seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// VisitObjects calls visit for all objects, in no particular order.
func (o *Store[T]) VisitObjects(visit func(key string, object T)) {
	for key, object := range o.seen {
		if a, ok := o.assumed[key]; ok {
			object = a.object
		}
		visit(key, object)
	}
}

// KeysInGroup returns the sorted keys of a group. The caller must not change the result.
func (o *Store[T]) KeysInGroup(group string) []string { return o.groups[group] }

// KeysInBytes is like KeysInGroup, but avoids allocating a string.
func (o *Store[T]) KeysInBytes(group []byte) []string { return o.groups[string(group)] }

// Set adds or replaces an object as it was read from the API.
func (o *Store[T]) Set(object T, gen uint64) {
	key := Key(object)
	old, known := o.seen[key]
	version := object.GetResourceVersion()
	isSameObject := known && old.GetUID() == object.GetUID()
	if isSameObject && version != "" && version == old.GetResourceVersion() {
		return // unchanged
	}
	if o.seen == nil {
		o.seen, o.gens, o.assumed = map[string]T{}, map[string]uint64{}, map[string]assumption[T]{}
	}
	o.regroup(key, func() {
		o.seen[key] = object
		delete(o.assumed, key) // the API has a newer version
	})
	o.Gen, o.gens[key] = gen, gen
}

// Remove removes the object with the given key.
func (o *Store[T]) Remove(key string, gen uint64) {
	if _, known := o.seen[key]; !known {
		return
	}
	o.regroup(key, func() {
		delete(o.seen, key)
		delete(o.assumed, key)
	})
	o.Gen, o.gens[key] = gen, gen
}

// Assume stores the assumed version of an object. It ignores unknown objects.
func (o *Store[T]) Assume(object T, by types.UID, gen uint64) {
	key := Key(object)
	if _, known := o.seen[key]; !known {
		return
	}
	o.regroup(key, func() { o.assumed[key] = assumption[T]{object, by} })
	o.Gen, o.gens[key] = gen, gen
}

// ForgetAssumed reverts the assumptions that were made for a pod. It reports whether there were any.
func (o *Store[T]) ForgetAssumed(by types.UID, gen uint64) bool {
	found := false
	for key, a := range o.assumed {
		if a.by == by {
			o.regroup(key, func() { delete(o.assumed, key) })
			o.Gen, o.gens[key] = gen, gen
			found = true
		}
	}
	return found
}

// regroup applies a change to the object with the given key and updates the groups.
func (o *Store[T]) regroup(key string, change func()) {
	if o.groupsOf == nil {
		change()
		return
	}
	if before, ok := o.Get(key); ok {
		for _, group := range o.groupsOf(before) {
			o.removeFromGroup(group, key)
		}
	}
	change()
	if after, ok := o.Get(key); ok {
		for _, group := range o.groupsOf(after) {
			o.addToGroup(group, key)
		}
	}
}

func (o *Store[T]) addToGroup(group, key string) {
	if o.groups == nil {
		o.groups = map[string][]string{}
	}
	keys := o.groups[group]
	if at, found := slices.BinarySearchFunc(keys, key, strings.Compare); !found {
		o.groups[group] = slices.Insert(keys, at, key)
	}
}

func (o *Store[T]) removeFromGroup(group, key string) {
	keys := o.groups[group]
	if at, found := slices.BinarySearchFunc(keys, key, strings.Compare); found {
		o.groups[group] = slices.Delete(keys, at, at+1)
	}
	if len(o.groups[group]) == 0 {
		delete(o.groups, group)
	}
}

// CloneIndexes copies the indexes but shares the objects.
func (o *Store[T]) CloneIndexes() Store[T] {
	fresh := *o
	fresh.seen, fresh.assumed, fresh.gens = maps.Clone(o.seen), maps.Clone(o.assumed), maps.Clone(o.gens)
	fresh.groups = maps.Clone(o.groups)
	for name, keys := range fresh.groups {
		fresh.groups[name] = slices.Clone(keys)
	}
	return fresh
}
