package registration

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fakeManager is a manager whose cache delivers events when the test calls deliver.
type fakeManager struct {
	manager.Manager
	added    []manager.Runnable
	mu       sync.Mutex
	handlers map[reflect.Type][]toolscache.ResourceEventHandler
}

func (m *fakeManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return nil
}

func (m *fakeManager) GetCache() cache.Cache                       { return fakeCache{m: m} }
func (m *fakeManager) GetScheme() *runtime.Scheme                  { return clientgoscheme.Scheme }
func (m *fakeManager) GetLogger() logr.Logger                      { return logr.Discard() }
func (m *fakeManager) GetControllerOptions() ctrlconfig.Controller { return ctrlconfig.Controller{} }

type fakeCache struct {
	cache.Cache
	m *fakeManager
}

func (c fakeCache) WaitForCacheSync(context.Context) bool { return true }

func (c fakeCache) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return fakeInformer{m: c.m, kind: reflect.TypeOf(o)}, nil
}

type fakeInformer struct {
	cache.Informer
	m    *fakeManager
	kind reflect.Type
}

func (i fakeInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.m.mu.Lock()
	defer i.m.mu.Unlock()
	i.m.handlers[i.kind] = append(i.m.handlers[i.kind], h)
	return fakeRegistration{}, nil
}

type fakeRegistration struct {
	toolscache.ResourceEventHandlerRegistration
}

func (fakeRegistration) HasSynced() bool { return true }

// change is a change of an object; before is nil for a new object, and after is nil for a deleted one.
type change struct{ before, after client.Object }

func (c change) object() client.Object {
	if c.after == nil {
		return c.before
	}
	return c.after
}

func (m *fakeManager) deliver(c change) {
	for _, h := range m.handlers[reflect.TypeOf(c.object())] {
		switch {
		case c.before == nil:
			h.OnAdd(c.after, false)
		case c.after == nil:
			h.OnDelete(c.before)
		default:
			h.OnUpdate(c.before, c.after)
		}
	}
}

// requests is a work queue, and a reconciler, that counts the requests by name.
type requests struct {
	Queue
	mu     sync.Mutex
	counts map[string]int
}

func (r *requests) Add(request reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[request.Name]++
}

func (r *requests) Reconcile(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
	r.Add(request)
	return reconcile.Result{}, nil
}

// podsWithLabel returns a controller of the pods with a label. It also watches nodes with the label and, from its
// registration on, all ConfigMaps.
func podsWithLabel(r reconcile.Reconciler, late *[]Watch) Controller {
	labeled := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()["watched"] != "" })
	prefixed := func(prefix string) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: prefix + o.GetName()}}}
		})
	}
	return Controller{
		Name: "test-controller", Kind: &corev1.Pod{}, Predicates: []predicate.Predicate{labeled}, Reconciler: r,
		Watches: []Watch{
			{Kind: &corev1.Pod{}, Handler: prefixed("all-")},
			{Kind: &corev1.Node{}, Handler: prefixed("node-"), Predicates: []predicate.Predicate{predicate.ResourceVersionChangedPredicate{}, labeled}},
		},
		Options: controller.Options{SkipNameValidation: new(true)},
		OnRegister: func(startWatch func(Watch) error) {
			w := Watch{Kind: &corev1.ConfigMap{}, Handler: prefixed("map-")}
			*late = append(*late, w)
			if err := startWatch(w); err != nil {
				panic(err)
			}
		},
	}
}

// TestAManagerAndDeliverCauseTheSameRequests verifies that AddTo registers all watches with their predicates, and that
// Deliver has the same effect as the event source of a manager.
func TestAManagerAndDeliverCauseTheSameRequests(t *testing.T) {
	named := func(name, label, version string) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Name: name, ResourceVersion: version}
		if label != "" {
			m.Labels = map[string]string{"watched": label}
		}
		return m
	}
	pod := func(name, label, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: named(name, label, version)}
	}
	node := func(name, label, version string) *corev1.Node {
		return &corev1.Node{ObjectMeta: named(name, label, version)}
	}
	changes := []change{
		{nil, pod("a", "", "1")}, {pod("b", "x", "1"), pod("b", "", "2")}, {pod("c", "", "1"), pod("c", "x", "2")}, {pod("d", "x", "1"), nil}, {nil, pod("e", "x", "1")},
		{nil, node("a", "", "1")}, {nil, node("b", "x", "1")}, {node("c", "x", "1"), node("c", "x", "1")}, {node("d", "x", "1"), node("d", "x", "2")}, {node("e", "", "1"), nil}, {node("f", "x", "1"), nil},
		{nil, &corev1.ConfigMap{ObjectMeta: named("a", "", "1")}}, {nil, &corev1.Secret{ObjectMeta: named("a", "x", "1")}},
	}
	want := map[string]int{
		"c": 1, "d": 1, "e": 1, "all-a": 1, "all-b": 1, "all-c": 1, "all-d": 1, "all-e": 1, "node-b": 1, "node-d": 1, "node-f": 1, "map-a": 1,
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		m, managed, late := &fakeManager{handlers: map[reflect.Type][]toolscache.ResourceEventHandler{}}, &requests{counts: map[string]int{}}, []Watch{}
		c := podsWithLabel(managed, &late)
		if err := c.AddTo(m); err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		for _, r := range m.added {
			running.Go(func() { _ = r.Start(ctx) })
		}
		synctest.Wait()
		delivered := &requests{counts: map[string]int{}}
		watches := append(c.AllWatches(), late...)
		for _, change := range changes {
			m.deliver(change)
			for _, w := range watches {
				if reflect.TypeOf(w.Kind) == reflect.TypeOf(change.object()) {
					w.Deliver(ctx, change.before, change.after, delivered)
				}
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		cancel()
		running.Wait()
		if diff := cmp.Diff(want, managed.counts); diff != "" {
			t.Errorf("requests of the manager (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, delivered.counts); diff != "" {
			t.Errorf("requests of Deliver (-want +got):\n%s", diff)
		}
	})
}
