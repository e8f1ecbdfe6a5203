package podgroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/registration"
	"github.com/vc-batch/vc/test/apiserver"
)

// world simulates a cluster with pods, ReplicaSets and PodGroups, a cache that lags behind per object, the controllers, a
// ReplicaSet controller and a garbage collector.
type world struct {
	t       *rapid.T
	server  *apiserver.Server
	api     *apiserver.Connection // the controllers' connection to the server
	seen    *apiserver.Cache
	late    map[string][]apiserver.Change // changes of objects that the cache has not received yet
	pods    map[string]reconcile.Request
	sets    map[string]reconcile.Request
	r       *Reconciler
	watches map[string][]registration.Watch // by controller
}

func keyOf(o client.Object) string {
	return fmt.Sprintf("%T/%s/%s", o, o.GetNamespace(), o.GetName())
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t}
	w.server = apiserver.New(clientScheme(), func() time.Time { return time.Unix(int64(len(w.server.History)), 0) })
	w.server.KeepCopies = true
	w.server.Save(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})
	w.server.Save(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000})
	w.server.Changed = w.postpone
	w.restart()
	return w
}

// postpone stores a change that the cache has not received yet.
func (w *world) postpone(c apiserver.Change) {
	key := keyOf(cmp.Or(c.Object, c.Old))
	w.late[key] = append(w.late[key], c)
}

// restart simulates a restart of vcd: it keeps only the state of the API server, which is listed again.
func (w *world) restart() {
	w.api = apiserver.NewConnection(w.server)
	w.pods, w.sets = map[string]reconcile.Request{}, map[string]reconcile.Request{}
	w.seen = apiserver.NewCache()
	w.r = New(Options{Cache: w.seen, API: w.api.Client(), Schedulers: []string{"volcano"}})
	w.watches = map[string][]registration.Watch{}
	for _, c := range w.r.controllers(1) {
		w.watches[c.Name] = c.AllWatches()
	}
	w.late = map[string][]apiserver.Change{}
	for _, o := range w.objects() {
		w.postpone(apiserver.Change{Object: o})
		w.deliver(keyOf(o))
	}
}

// objects returns the PodGroups, ReplicaSets and pods.
func (w *world) objects() (all []client.Object) {
	for _, kind := range []schema.GroupVersionKind{
		schedulingv1beta1.GroupVersion.WithKind("PodGroup"), appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), corev1.SchemeGroupVersion.WithKind("Pod"),
	} {
		all = append(all, w.server.Objects(kind)...)
	}
	return all
}

// deliver passes the next change of one object to the cache, and the event to the controllers.
func (w *world) deliver(key string) {
	c := w.late[key][0]
	if w.late[key] = w.late[key][1:]; len(w.late[key]) == 0 {
		delete(w.late, key)
	}
	w.seen.Apply(c)
	w.event(c.Old, c.Object)
}

// event passes a change to the watches of the controllers of pods and ReplicaSets.
func (w *world) event(before, now client.Object) {
	about := cmp.Or(now, before)
	for name, requests := range map[string]map[string]reconcile.Request{"pg-controller": w.pods, "pg-replicaset-controller": w.sets} {
		for _, watch := range w.watches[name] {
			if reflect.TypeOf(watch.Kind) == reflect.TypeOf(about) {
				watch.Deliver(context.Background(), before, now, requestSet{requests: requests})
			}
		}
	}
}

// requestSet is a work queue that stores the requests by name.
type requestSet struct {
	registration.Queue
	requests map[string]reconcile.Request
}

func (s requestSet) Add(r reconcile.Request) { s.requests[r.String()] = r }

// turn reconciles one queued object, if there is any. After an error it is queued again; if vcd crashes, all requests
// are lost.
func (w *world) turn(choose func(n int) int) {
	requests := slices.Concat(w.keysOf(w.pods, "pod "), w.keysOf(w.sets, "set "))
	if len(requests) == 0 {
		return
	}
	kind, name, _ := strings.Cut(requests[choose(len(requests))], " ")
	queue := w.pods
	var one reconcile.Reconciler = w.r
	if kind == "set" {
		queue, one = w.sets, w.r.replicaSetWorkload()
	}
	request := queue[name]
	delete(queue, name)
	result, err := one.Reconcile(context.Background(), request)
	switch {
	case errors.Is(err, apiserver.ErrDead):
		w.restart()
	case err != nil || result.RequeueAfter > 0:
		queue[name] = request
	}
}

func (w *world) keysOf(m map[string]reconcile.Request, prefix string) []string {
	all := make([]string, 0, len(m))
	for key := range m {
		all = append(all, prefix+key)
	}
	slices.Sort(all)
	return all
}

// collect deletes objects whose owners are all gone.
func (w *world) collect() {
	for requests := w.server.GarbageRequests(); len(requests) > 0; requests = w.server.GarbageRequests() {
		for _, r := range requests {
			if _, err := w.server.Do(r); err != nil {
				w.t.Fatalf("%s: %v", r, err)
			}
		}
	}
}

// scale simulates the ReplicaSet controller: it creates or deletes one pod if the number differs.
func (w *world) scale(set *appsv1.ReplicaSet) bool {
	var have []*corev1.Pod
	for _, pod := range apiserver.All[*corev1.Pod](w.server) {
		if metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil {
			have = append(have, pod)
		}
	}
	switch want := int(*set.Spec.Replicas); {
	case len(have) < want:
		pod := testPod(nil)
		pod.Name = fmt.Sprintf("%s-%d", set.Name, w.server.Version())
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		w.server.Save(pod)
	case len(have) > want:
		pod := have[0].DeepCopy()
		pod.Spec.NodeName = "n" // a pod without a node would be deleted at once
		w.server.Save(pod)
		if err := w.server.Client().Delete(context.Background(), pod); err != nil {
			w.t.Fatal(err)
		}
	default:
		return false
	}
	return true
}
