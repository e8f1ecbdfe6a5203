package model

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Objects are the API objects of one kind, by key: the name, or namespace/name.
// Objects are never changed, only replaced. What was decided about one and the
// API has not answered yet is laid over it.
type Objects[T metav1.Object] struct {
	// Gen is the generation of the last change of any of them.
	Gen uint64

	seen    map[string]T
	assumed map[string]assumption[T]
	gens    map[string]uint64
	// groups are the keys by what they are looked up by, sorted.
	groups map[string][]string
	// groupsOf says what an object is looked up by; nil: by nothing.
	groupsOf func(T) []string
}

// assumption is an object as it will be once a decision is carried out.
type assumption[T metav1.Object] struct {
	object T
	by     types.UID // the pod that it was decided for
}

// ObjectKey is the key of an object in its Objects.
func ObjectKey(o metav1.Object) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}

// Get finds an object by its key, with what was assumed of it.
func (o *Objects[T]) Get(key string) (T, bool) {
	if a, ok := o.assumed[key]; ok {
		return a.object, true
	}
	v, ok := o.seen[key]
	return v, ok
}

// Len is how many there are.
func (o *Objects[T]) Len() int { return len(o.seen) }

// GenOf is the generation of the last change of one key, 0 when there never was one.
func (o *Objects[T]) GenOf(key string) uint64 { return o.gens[key] }

// Keys are all keys, sorted.
func (o *Objects[T]) Keys() []string {
	keys := make([]string, 0, len(o.seen))
	for key := range o.seen {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Each visits all, in no order.
func (o *Objects[T]) Each(visit func(key string, object T)) {
	for key, object := range o.seen {
		if a, ok := o.assumed[key]; ok {
			object = a.object
		}
		visit(key, object)
	}
}

// In are the keys of a group, sorted; not to be changed.
func (o *Objects[T]) In(group string) []string { return o.groups[group] }

// InBytes is In without making a string.
func (o *Objects[T]) InBytes(group []byte) []string { return o.groups[string(group)] }

func (o *Objects[T]) put(object T, gen uint64) {
	key := ObjectKey(object)
	old, known := o.seen[key]
	if known && old.GetResourceVersion() == object.GetResourceVersion() && old.GetUID() == object.GetUID() && object.GetResourceVersion() != "" {
		return // told twice
	}
	if o.seen == nil {
		o.seen, o.gens, o.assumed = map[string]T{}, map[string]uint64{}, map[string]assumption[T]{}
	}
	o.regroup(key, func() {
		o.seen[key] = object
		delete(o.assumed, key) // the API has moved on
	})
	o.Gen, o.gens[key] = gen, gen
}

func (o *Objects[T]) drop(key string, gen uint64) {
	if _, known := o.seen[key]; !known {
		return
	}
	o.regroup(key, func() {
		delete(o.seen, key)
		delete(o.assumed, key)
	})
	o.Gen, o.gens[key] = gen, gen
}

// assume lays an object over the one that was seen.
func (o *Objects[T]) assume(object T, by types.UID, gen uint64) {
	key := ObjectKey(object)
	if _, known := o.seen[key]; !known {
		return
	}
	o.regroup(key, func() { o.assumed[key] = assumption[T]{object, by} })
	o.Gen, o.gens[key] = gen, gen
}

// forget takes back what was assumed for a pod; it says whether there was anything.
func (o *Objects[T]) forget(by types.UID, gen uint64) bool {
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

// regroup keeps the groups in step with a change of one object.
func (o *Objects[T]) regroup(key string, change func()) {
	if o.groupsOf == nil {
		change()
		return
	}
	if before, ok := o.Get(key); ok {
		for _, group := range o.groupsOf(before) {
			o.leave(group, key)
		}
	}
	change()
	if after, ok := o.Get(key); ok {
		for _, group := range o.groupsOf(after) {
			o.enter(group, key)
		}
	}
}

func (o *Objects[T]) enter(group, key string) {
	if o.groups == nil {
		o.groups = map[string][]string{}
	}
	keys := o.groups[group]
	if at, found := slices.BinarySearchFunc(keys, key, strings.Compare); !found {
		o.groups[group] = slices.Insert(keys, at, key)
	}
}

func (o *Objects[T]) leave(group, key string) {
	keys := o.groups[group]
	if at, found := slices.BinarySearchFunc(keys, key, strings.Compare); found {
		o.groups[group] = slices.Delete(keys, at, at+1)
	}
	if len(o.groups[group]) == 0 {
		delete(o.groups, group)
	}
}
