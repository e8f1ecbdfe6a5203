package livesnapshot

import (
	"hash/fnv"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/snapshot"
)

// sink receives the objects of one kind from a reflector, reduces them to the needed fields and puts them on the board.
// It stores the names and UIDs of objects that can be deleted. For kinds whose objects are never removed individually,
// add and clear are set instead of gone and seen.
type sink[T metav1.Object, R any] struct {
	live *Live
	kind string
	cut  func(T) R
	set  func(*snapshot.Board, R)
	gone func(*snapshot.Board, types.NamespacedName, types.UID)
	seen map[types.NamespacedName]version
	// add replaces set and reports whether it changed anything. clear removes all objects.
	add   func(*snapshot.Board, R) bool
	clear func(*snapshot.Board)
}

// version identifies a version of an object, so that a repeated list does not count as a change.
type version struct {
	uid   types.UID
	state uint64
}

// resourceVersionNumber converts a resource version to a number. All known API servers use numbers; other versions are
// hashed.
func resourceVersionNumber(resourceVersion string) uint64 {
	if n, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		return n
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(resourceVersion))
	return h.Sum64()
}

var _ cache.TransformingStore = (*sink[*metav1.ObjectMeta, int])(nil)

// early is an object that was reduced to the needed fields while its list streamed in. Only the name and UID remain
// of the object's metadata.
type early[R any] struct {
	*metav1.ObjectMeta
	name  types.NamespacedName
	is    version
	row   R
	taken bool // already on the board
}

// nameless is the empty metadata that all early objects share. It is never written.
var nameless metav1.ObjectMeta

// GetNamespace implements metav1.Object for the reflector.
func (e *early[R]) GetNamespace() string { return e.name.Namespace }

// GetName implements metav1.Object for the reflector.
func (e *early[R]) GetName() string { return e.name.Name }

// GetUID implements metav1.Object for the reflector.
func (e *early[R]) GetUID() types.UID { return e.is.uid }

// Transformer returns a function that reduces objects as they stream in and puts them on the board at once, so that
// little work remains when the list is complete.
func (s *sink[T, R]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		o, ok := obj.(T)
		if !ok {
			return obj, nil
		}
		e := s.reduceObject(o)
		s.live.putListedObject(s.kind, func(b *snapshot.Board) bool { return s.putOnBoard(b, e) })
		e.taken = true
		return e, nil
	}
}

func (s *sink[T, R]) reduceObject(o T) *early[R] {
	return &early[R]{ObjectMeta: &nameless, name: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, is: version{o.GetUID(), resourceVersionNumber(o.GetResourceVersion())}, row: s.cut(o)}
}

func (s *sink[T, R]) readObject(obj any) (e *early[R], ok bool) {
	switch o := obj.(type) {
	case *early[R]:
		return o, true
	case T:
		return s.reduceObject(o), true
	}
	return nil, false
}

// Add adds a new object.
func (s *sink[T, R]) Add(obj any) error {
	if e, ok := s.readObject(obj); ok {
		s.live.changeBoard(func(b *snapshot.Board) bool { return s.putOnBoard(b, e) })
	}
	return nil
}

// Update replaces a changed object.
func (s *sink[T, R]) Update(obj any) error { return s.Add(obj) }

// Delete removes a deleted object, given in its last state.
func (s *sink[T, R]) Delete(obj any) error {
	o, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	s.live.changeBoard(func(b *snapshot.Board) bool {
		return s.dropObject(b, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	})
	return nil
}

// Replace replaces all objects with the objects of a complete list.
func (s *sink[T, R]) Replace(objects []any, _ string) error {
	rows := make([]*early[R], 0, len(objects))
	here := make(map[types.NamespacedName]struct{}, len(objects))
	for _, obj := range objects {
		if e, ok := s.readObject(obj); ok {
			rows = append(rows, e)
			here[e.name] = struct{}{}
		}
	}
	s.live.changeBoard(func(b *snapshot.Board) (changed bool) {
		for name := range s.seen {
			if _, ok := here[name]; !ok {
				changed = s.dropObject(b, name) || changed
			}
		}
		for _, e := range rows {
			if !e.taken {
				changed = s.putOnBoard(b, e) || changed
			}
		}
		return changed
	})
	s.live.finishList(s.kind, true)
	return nil
}

// Resync does nothing, because the sink does not keep objects that could be sent again.
func (s *sink[T, R]) Resync() error { return nil }

// putOnBoard puts an object on the board and reports whether it differs from the previous version.
func (s *sink[T, R]) putOnBoard(b *snapshot.Board, e *early[R]) bool {
	if s.add != nil {
		return s.add(b, e.row)
	}
	before, known := s.seen[e.name]
	if known && before == e.is {
		return false
	}
	if known && before.uid != e.is.uid {
		s.gone(b, e.name, before.uid)
	}
	s.seen[e.name] = e.is
	s.set(b, e.row)
	return true
}

func (s *sink[T, R]) dropObject(b *snapshot.Board, name types.NamespacedName) bool {
	before, known := s.seen[name]
	if known {
		delete(s.seen, name)
		s.gone(b, name, before.uid)
	}
	return known
}

// forget removes all objects, because their scope is no longer watched.
func (s *sink[T, R]) forget() {
	s.live.changeBoard(func(b *snapshot.Board) (changed bool) {
		for name := range s.seen {
			changed = s.dropObject(b, name) || changed
		}
		if s.clear != nil {
			s.clear(b)
		}
		return changed || s.clear != nil
	})
	s.live.finishList(s.kind, false)
}
