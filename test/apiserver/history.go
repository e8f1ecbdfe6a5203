package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ObjectsAt returns the objects of a kind as of a version, in the order of a List. It replays the history, so it is
// slower than a List of the current version. The objects must not be modified.
func (s *Server) ObjectsAt(k schema.GroupVersionKind, version uint64) ([]client.Object, error) {
	t := s.tables[k]
	if t == nil {
		return nil, fmt.Errorf("unknown kind %s", k)
	}
	return s.objectsAt(t, version), nil
}

func (s *Server) objectsAt(t *table, version uint64) []client.Object {
	objects := map[types.NamespacedName]client.Object{}
	if s.isNearEnd(version) {
		s.undoChanges(t, version, objects)
	} else {
		s.redoChanges(t, version, objects)
	}
	sorted := make([]client.Object, 0, len(objects))
	for _, o := range objects {
		sorted = append(sorted, o)
	}
	slices.SortFunc(sorted, compareKeys)
	return sorted
}

// isNearEnd reports whether there are fewer changes after a version than before it.
func (s *Server) isNearEnd(version uint64) bool {
	return len(s.ChangesAfter(version)) < len(s.History)/2
}

// ChangesAfter returns the changes after a version, in order.
func (s *Server) ChangesAfter(version uint64) []Change {
	i, _ := slices.BinarySearchFunc(s.History, version+1, func(c Change, v uint64) int { return cmp.Compare(c.Version, v) })
	return s.History[i:]
}

func (s *Server) undoChanges(t *table, version uint64, objects map[types.NamespacedName]client.Object) {
	t.all("", func(e *entry) bool {
		objects[client.ObjectKeyFromObject(e.object)] = e.object
		return true
	})
	for _, c := range slices.Backward(s.ChangesAfter(version)) {
		if c.Kind != t.kind.gvk {
			continue
		}
		if c.Old == nil {
			delete(objects, client.ObjectKeyFromObject(c.Object))
		} else {
			objects[client.ObjectKeyFromObject(c.Old)] = c.Old
		}
	}
}

func (s *Server) redoChanges(t *table, version uint64, objects map[types.NamespacedName]client.Object) {
	for i := range s.History {
		c := &s.History[i]
		switch {
		case c.Version > version:
			return
		case c.Kind != t.kind.gvk:
		case c.Object == nil:
			delete(objects, client.ObjectKeyFromObject(c.Old))
		default:
			objects[client.ObjectKeyFromObject(c.Object)] = c.Object
		}
	}
}

// compareKeys compares objects of one kind by etcd's keys.
func compareKeys(a, b client.Object) int {
	if a.GetNamespace() == b.GetNamespace() {
		return strings.Compare(a.GetName(), b.GetName())
	}
	return strings.Compare(a.GetNamespace()+"/", b.GetNamespace()+"/")
}
