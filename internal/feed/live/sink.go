package live

import (
	"hash/fnv"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/snapshot"
)

// sink is where a reflector of one kind puts objects: cut down as they arrive, they go to the board. It remembers names and UIDs
// of what can be gone; of what is never taken back (add and clear are set, gone and seen are nil) nothing.
type sink[T metav1.Object, R any] struct {
	live *Live
	kind string
	cut  func(T) R
	set  func(*snapshot.Board, R)
	gone func(*snapshot.Board, types.NamespacedName, types.UID)
	seen map[types.NamespacedName]version
	// add takes the place of set: it says whether that changed anything. clear forgets all of it.
	add   func(*snapshot.Board, R) bool
	clear func(*snapshot.Board)
}

// version is which state of which object there is: enough to know it when a list brings it again.
type version struct {
	uid   types.UID
	state uint64
}

// stateOf makes a number of a resource version, which is one with every API server that we know.
func stateOf(resourceVersion string) uint64 {
	if n, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		return n
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(resourceVersion))
	return h.Sum64()
}

var _ cache.TransformingStore = (*sink[*metav1.ObjectMeta, int])(nil)

// early is an object that was cut down while its list streamed in. Of what it is called as an object only the name is there.
type early[R any] struct {
	*metav1.ObjectMeta
	name  types.NamespacedName
	is    version
	row   R
	taken bool // it is on the board already
}

// nameless is all else of every early object: nothing. It is never written.
var nameless metav1.ObjectMeta

// GetNamespace, GetName and GetUID are what a reflector asks of it.
func (e *early[R]) GetNamespace() string { return e.name.Namespace }

// GetName is its name.
func (e *early[R]) GetName() string { return e.name.Name }

// GetUID is its UID.
func (e *early[R]) GetUID() types.UID { return e.is.uid }

// Transformer cuts down what streams in, and puts it on the board at once: when the list is complete there is little left to do.
func (s *sink[T, R]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		o, ok := obj.(T)
		if !ok {
			return obj, nil
		}
		e := s.early(o)
		s.live.arrived(s.kind, func(b *snapshot.Board) bool { return s.take(b, e) })
		e.taken = true
		return e, nil
	}
}

func (s *sink[T, R]) early(o T) *early[R] {
	return &early[R]{ObjectMeta: &nameless, name: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}, is: version{o.GetUID(), stateOf(o.GetResourceVersion())}, row: s.cut(o)}
}

func (s *sink[T, R]) read(obj any) (e *early[R], ok bool) {
	switch o := obj.(type) {
	case *early[R]:
		return o, true
	case T:
		return s.early(o), true
	}
	return nil, false
}

// Add takes a new object.
func (s *sink[T, R]) Add(obj any) error {
	if e, ok := s.read(obj); ok {
		s.live.change(func(b *snapshot.Board) bool { return s.take(b, e) })
	}
	return nil
}

// Update takes a changed object.
func (s *sink[T, R]) Update(obj any) error { return s.Add(obj) }

// Delete takes the last state of an object that is no more.
func (s *sink[T, R]) Delete(obj any) error {
	o, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	s.live.change(func(b *snapshot.Board) bool {
		return s.drop(b, types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()})
	})
	return nil
}

// Replace takes a whole list; what it lacks is gone.
func (s *sink[T, R]) Replace(objects []any, _ string) error {
	rows := make([]*early[R], 0, len(objects))
	here := make(map[types.NamespacedName]struct{}, len(objects))
	for _, obj := range objects {
		if e, ok := s.read(obj); ok {
			rows = append(rows, e)
			here[e.name] = struct{}{}
		}
	}
	s.live.change(func(b *snapshot.Board) (changed bool) {
		for name := range s.seen {
			if _, ok := here[name]; !ok {
				changed = s.drop(b, name) || changed
			}
		}
		for _, e := range rows {
			if !e.taken {
				changed = s.take(b, e) || changed
			}
		}
		return changed
	})
	s.live.listed(s.kind, true)
	return nil
}

// Resync has no meaning here: nothing is kept that could be sent again.
func (s *sink[T, R]) Resync() error { return nil }

// take puts an object on the board, and says whether it is another one than what was there.
func (s *sink[T, R]) take(b *snapshot.Board, e *early[R]) bool {
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

func (s *sink[T, R]) drop(b *snapshot.Board, name types.NamespacedName) bool {
	before, known := s.seen[name]
	if known {
		delete(s.seen, name)
		s.gone(b, name, before.uid)
	}
	return known
}

// forget lets go of all that came from a scope that is not watched any more.
func (s *sink[T, R]) forget() {
	s.live.change(func(b *snapshot.Board) (changed bool) {
		for name := range s.seen {
			changed = s.drop(b, name) || changed
		}
		if s.clear != nil {
			s.clear(b)
		}
		return changed || s.clear != nil
	})
	s.live.listed(s.kind, false)
}
