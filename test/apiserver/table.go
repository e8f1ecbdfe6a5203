package apiserver

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// entry is a stored object with the state that is not part of the object.
type entry struct {
	kind   *kind
	object client.Object
	// lacksStatus reports whether the object has no status at all. For the Go types, this is the same as an empty status,
	// but the first write of an empty status creates a version. It is also true for claims that are not stored with their
	// phase, which is a default.
	lacksStatus bool
	// status is the status if it is written with server-side apply, or nil if it has not been written yet.
	status *appliedStatus
}

// table holds the objects of one kind.
type table struct {
	kind       *kind
	count      int
	namespaces map[string]*shelf
	// sorted holds the namespaces in the order of etcd's keys. It is nil if it must be computed again.
	sorted []string
}

// shelf holds the objects of one kind in one namespace.
type shelf struct {
	entries map[string]*entry
	// sorted holds the entries sorted by name.
	sorted []*entry
}

func newTable(k *kind) *table { return &table{kind: k, namespaces: map[string]*shelf{}} }

func (t *table) find(namespace, name string) *entry {
	if s := t.namespaces[namespace]; s != nil {
		return s.entries[name]
	}
	return nil
}

func (t *table) insert(e *entry) {
	namespace, name := e.object.GetNamespace(), e.object.GetName()
	s := t.namespaces[namespace]
	if s == nil {
		s = &shelf{entries: map[string]*entry{}}
		t.namespaces[namespace], t.sorted = s, nil
	}
	s.entries[name] = e
	i, _ := slices.BinarySearchFunc(s.sorted, name, compareName)
	s.sorted = slices.Insert(s.sorted, i, e)
	t.count++
}

func (t *table) remove(e *entry) {
	namespace, name := e.object.GetNamespace(), e.object.GetName()
	s := t.namespaces[namespace]
	delete(s.entries, name)
	i, _ := slices.BinarySearchFunc(s.sorted, name, compareName)
	s.sorted = slices.Delete(s.sorted, i, i+1)
	if len(s.sorted) == 0 {
		delete(t.namespaces, namespace)
		t.sorted = nil
	}
	t.count--
}

func compareName(e *entry, name string) int { return cmp.Compare(e.object.GetName(), name) }

// all calls yield for each object in the order of etcd's keys: by namespace, including the slash that follows it, and
// name. It stops when yield returns false.
func (t *table) all(namespace string, yield func(*entry) bool) {
	if namespace != "" || !t.kind.namespaced {
		t.allIn(namespace, yield)
		return
	}
	if t.sorted == nil {
		t.sorted = slices.SortedFunc(maps.Keys(t.namespaces), func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	}
	for _, namespace := range t.sorted {
		if !t.allIn(namespace, yield) {
			return
		}
	}
}

func (t *table) allIn(namespace string, yield func(*entry) bool) bool {
	s := t.namespaces[namespace]
	if s == nil {
		return true
	}
	for _, e := range s.sorted {
		if !yield(e) {
			return false
		}
	}
	return true
}

// dependents holds the objects by the UIDs of their owners.
type dependents map[types.UID][]*entry

func (d dependents) add(e *entry) {
	owners := e.object.GetOwnerReferences()
	for i := range owners {
		uid := owners[i].UID
		isRepeated := slices.ContainsFunc(owners[:i], func(o ownerReference) bool { return o.UID == uid })
		if !isRepeated {
			d[uid] = append(d[uid], e)
		}
	}
}

// remove removes an entry under its old owners.
func (d dependents) remove(e *entry, owners []ownerReference) {
	for i := range owners {
		uid := owners[i].UID
		kept := d[uid]
		if at := slices.Index(kept, e); at >= 0 {
			kept[at] = kept[len(kept)-1]
			kept = kept[:len(kept)-1]
		}
		if len(kept) == 0 {
			delete(d, uid)
		} else {
			d[uid] = kept
		}
	}
}
