package feed

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"

	"github.com/vc-batch/vc/internal/model"
)

// sink receives the objects of one kind from a reflector and converts them to deltas. It stores only the names and
// UIDs that it has reported.
type sink[T metav1.Object] struct {
	feed   *Feed
	set    func(T) (model.Delta, bool) // returns false if the scheduler does not need the object
	gone   func(types.NamespacedName, types.UID) model.Delta
	seen   map[types.NamespacedName]types.UID
	listed bool
	last   atomic.Int64 // time of the last event, in nanoseconds since 1970
}

func newSink[T metav1.Object](f *Feed, set func(T) (model.Delta, bool), gone func(types.NamespacedName, types.UID) model.Delta) *sink[T] {
	return &sink[T]{feed: f, set: set, gone: gone, seen: map[types.NamespacedName]types.UID{}}
}

var (
	_ cache.TransformingStore      = (*sink[*corev1.Pod])(nil)
	_ cache.ReflectorBookmarkStore = (*sink[*corev1.Pod])(nil)
)

// early is an object from a list, converted to a delta while the list streams in. This conversion saves memory, because
// keeping the full objects of 50,000 pods until the list is complete would take hundreds of megabytes.
type early struct {
	metav1.ObjectMeta
	delta    model.Delta
	concerns bool
}

// Transformer returns a function that converts objects as they stream in. The reflector keeps the results until it
// calls Replace.
func (s *sink[T]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		o, ok := obj.(T)
		if !ok {
			return obj, nil
		}
		e := &early{ObjectMeta: metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID()}}
		e.delta, e.concerns = s.set(o)
		return e, nil
	}
}

// readObject returns an object's metadata and delta. ok is false if the scheduler does not need the object.
func (s *sink[T]) readObject(obj any) (o metav1.Object, delta model.Delta, ok bool) {
	if e, is := obj.(*early); is {
		return e, e.delta, e.concerns
	}
	whole, is := obj.(T)
	if !is {
		return nil, nil, false
	}
	delta, ok = s.set(whole)
	return whole, delta, ok
}

// Add reports a new object.
func (s *sink[T]) Add(obj any) error {
	s.recordEvent()
	s.feed.Put(s.appendDelta(nil, obj)...)
	return nil
}

// Update reports a changed object.
func (s *sink[T]) Update(obj any) error { return s.Add(obj) }

// Delete reports a deleted object, given in its last state.
func (s *sink[T]) Delete(obj any) error {
	s.recordEvent()
	o, ok := obj.(T)
	if !ok {
		return nil
	}
	name := namespacedName(o)
	if uid, known := s.seen[name]; known {
		delete(s.seen, name)
		s.feed.Put(s.gone(name, uid))
	}
	return nil
}

// Replace reports the objects of a complete list. Objects that are missing from the list are reported as deleted.
func (s *sink[T]) Replace(objects []any, _ string) error {
	s.recordEvent()
	here := make(map[types.NamespacedName]struct{}, len(objects))
	for _, obj := range objects {
		if o, ok := obj.(metav1.Object); ok {
			here[namespacedName(o)] = struct{}{}
		}
	}
	var missing []types.NamespacedName
	for name := range s.seen {
		if _, ok := here[name]; !ok {
			missing = append(missing, name)
		}
	}
	slices.SortFunc(missing, compareNames) // so that the same lists always result in the same deltas
	var deltas []model.Delta
	for _, name := range missing {
		deltas = append(deltas, s.gone(name, s.seen[name]))
		delete(s.seen, name)
	}
	for _, obj := range objects {
		deltas = s.appendDelta(deltas, obj)
	}
	s.feed.Put(deltas...)
	if !s.listed {
		s.listed = true
		s.feed.markKindSynced()
	}
	return nil
}

// Bookmark records that the watch is alive. The API server sends a bookmark about once a minute.
func (s *sink[T]) Bookmark(string) error {
	s.recordEvent()
	return nil
}

func (s *sink[T]) recordEvent() { s.last.Store(time.Now().UnixNano()) }

// lastEvent returns when the watch last received an event, a bookmark or a list, or the zero time.
func (s *sink[T]) lastEvent() time.Time {
	if last := s.last.Load(); last != 0 {
		return time.Unix(0, last)
	}
	return time.Time{}
}

// Resync does nothing, because the sink does not keep objects that could be sent again.
func (s *sink[T]) Resync() error { return nil }

func (s *sink[T]) appendDelta(deltas []model.Delta, obj any) []model.Delta {
	o, delta, ok := s.readObject(obj)
	if !ok {
		return deltas
	}
	name, uid := namespacedName(o), o.GetUID()
	if before, known := s.seen[name]; known && before != uid {
		deltas = append(deltas, s.gone(name, before))
	}
	s.seen[name] = uid
	return append(deltas, delta)
}

func namespacedName(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}

func compareNames(x, y types.NamespacedName) int {
	return cmp.Or(strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
}

func nodeSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(n *corev1.Node) (model.Delta, bool) { return model.NodeFrom(n), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.NodeGone{Name: n.Name} })
}

func namespaceSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(n *corev1.Namespace) (model.Delta, bool) { return model.NamespaceFrom(n), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.NamespaceGone{Name: n.Name} })
}

func quotaSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(q *corev1.ResourceQuota) (model.Delta, bool) { return model.QuotaFrom(q), true },
		func(n types.NamespacedName, _ types.UID) model.Delta {
			return model.QuotaGone{Namespace: n.Namespace, Name: n.Name}
		})
}

func queueSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(q *schedulingv1beta1.Queue) (model.Delta, bool) { return model.QueueFrom(q), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.QueueGone{Name: n.Name} })
}

func priorityClassSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(p *schedulingv1.PriorityClass) (model.Delta, bool) { return model.PriorityClassFrom(p), true },
		func(n types.NamespacedName, _ types.UID) model.Delta { return model.PriorityClassGone{Name: n.Name} })
}

func gangSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(g *schedulingv1beta1.PodGroup) (model.Delta, bool) { return model.GangFrom(g), true },
		func(n types.NamespacedName, uid types.UID) model.Delta {
			return model.GangGone{Namespace: n.Namespace, Name: n.Name, UID: uid}
		})
}

// podSink returns a store that reports the pods of this scheduler, and those pods of other schedulers that use
// resources of a node.
func podSink(f *Feed, ours func(*corev1.Pod) bool) cache.ReflectorStore {
	return newSink(f,
		func(p *corev1.Pod) (model.Delta, bool) {
			mine := ours(p)
			if !mine && p.Spec.NodeName == "" {
				return nil, false
			}
			if mine && p.Spec.NodeName != "" {
				f.binds.recordWatched(p.UID, time.Now())
			}
			return model.TaskFrom(p, mine), true
		},
		func(n types.NamespacedName, uid types.UID) model.Delta {
			f.binds.forget(uid)
			return model.TaskGone{Namespace: n.Namespace, Name: n.Name, UID: uid}
		})
}
