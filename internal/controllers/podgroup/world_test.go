package podgroup

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/registration"
)

// world simulates an API server with pods, ReplicaSets and PodGroups, a cache that lags behind per object, the
// controllers, a ReplicaSet controller and a garbage collector.
type world struct {
	t       *rapid.T
	api     store
	seen    store                      // content of the caches
	late    map[string][]client.Object // changes of objects that the caches have not received yet; nil for a deletion
	pods    map[string]reconcile.Request
	sets    map[string]reconcile.Request
	r       *Reconciler
	watches map[string][]registration.Watch // by controller
	version int
	uids    int
	// failAt is the number of the next write that fails, counted from now, and failDone whether it fails only after it
	// was done. 0 means no failure.
	failAt   int
	failDone bool
}

// store holds objects by kind, namespace and name.
type store map[string]client.Object

func keyOf(o client.Object) string {
	return fmt.Sprintf("%T/%s/%s", o, o.GetNamespace(), o.GetName())
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, api: store{}, seen: store{}, late: map[string][]client.Object{}}
	w.restart()
	return w
}

// restart simulates a restart of vcd: it keeps only the state of the API server, which is listed again.
func (w *world) restart() {
	w.failAt = 0
	w.pods, w.sets = map[string]reconcile.Request{}, map[string]reconcile.Request{}
	w.r = New(Options{Cache: reader{w, w.seen}, API: writer{w: w}, Schedulers: []string{"volcano"}})
	w.seen = store{}
	w.r.cache = reader{w, w.seen}
	w.watches = map[string][]registration.Watch{}
	for _, c := range w.r.controllers(1) {
		w.watches[c.Name] = c.AllWatches()
	}
	w.late = map[string][]client.Object{}
	for _, key := range w.keys(w.api) {
		w.late[key] = []client.Object{w.api[key]}
		w.deliver(key)
	}
}

func (w *world) keys(s store) []string {
	all := make([]string, 0, len(s))
	for key := range s {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// put stores an object in the API server.
func (w *world) put(o client.Object) {
	w.version++
	o.SetResourceVersion(fmt.Sprint(w.version))
	if o.GetUID() == "" {
		w.uids++
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", w.uids)))
		o.SetCreationTimestamp(metav1.Unix(int64(w.uids), 0))
	}
	w.api[keyOf(o)] = o // never modified in place: callers store a copy
	w.late[keyOf(o)] = append(w.late[keyOf(o)], o)
}

func (w *world) remove(key string) {
	delete(w.api, key)
	w.late[key] = append(w.late[key], nil)
}

// deliver passes the next change of one object to the caches, and the event to the controllers.
func (w *world) deliver(key string) {
	now := w.late[key][0]
	if w.late[key] = w.late[key][1:]; len(w.late[key]) == 0 {
		delete(w.late, key)
	}
	before, was := w.seen[key]
	if now == nil {
		delete(w.seen, key)
		if was {
			w.event(before, nil)
		}
		return
	}
	w.seen[key] = now
	w.event(before, now)
}

// event passes a change to the watches of the controllers of pods and ReplicaSets.
func (w *world) event(before, now client.Object) {
	about := now
	if now == nil {
		about = before
	}
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
	case errors.Is(err, errDied):
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
	for _, key := range w.keys(w.api) {
		refs := w.api[key].GetOwnerReferences()
		if len(refs) > 0 && !slices.ContainsFunc(refs, func(ref metav1.OwnerReference) bool {
			for _, o := range w.api {
				if o.GetUID() == ref.UID {
					return true
				}
			}
			return false
		}) {
			w.remove(key)
		}
	}
}

// scale simulates the ReplicaSet controller: it creates or deletes one pod if the number differs.
func (w *world) scale(set *appsv1.ReplicaSet) bool {
	var have []*corev1.Pod
	for _, key := range w.keys(w.api) {
		if pod, ok := w.api[key].(*corev1.Pod); ok && metav1.IsControlledBy(pod, set) && pod.DeletionTimestamp == nil {
			have = append(have, pod)
		}
	}
	switch want := int(*set.Spec.Replicas); {
	case len(have) < want:
		pod := testPod(nil)
		pod.UID, pod.Name = "", fmt.Sprintf("%s-%d", set.Name, w.uids)
		pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))}
		w.put(pod)
	case len(have) > want:
		pod := have[0].DeepCopy()
		pod.DeletionTimestamp = &metav1.Time{}
		w.put(pod)
	default:
		return false
	}
	return true
}

var errDied = errors.New("vcd died here")

// write carries out a write, unless vcd crashes before it. It may also crash after it.
func (w *world) write(do func() error) error {
	if w.failAt > 0 {
		w.failAt--
		if w.failAt == 0 {
			if w.failDone {
				_ = do()
			}
			return errDied
		}
	}
	return do()
}

// reader reads one store.
type reader struct {
	w *world
	s store
}

func (r reader) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	into.SetNamespace(key.Namespace)
	into.SetName(key.Name)
	found, ok := r.s[keyOf(into)]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: fmt.Sprintf("%T", into)}, key.Name)
	}
	switch into := into.(type) {
	case *corev1.Pod:
		found.(*corev1.Pod).DeepCopyInto(into)
	case *appsv1.ReplicaSet:
		found.(*appsv1.ReplicaSet).DeepCopyInto(into)
	case *schedulingv1beta1.PodGroup:
		found.(*schedulingv1beta1.PodGroup).DeepCopyInto(into)
	default:
		return fmt.Errorf("%T is not there", into)
	}
	return nil
}

func (r reader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(options)
	uid := strings.TrimPrefix(o.FieldSelector.String(), "vc.controllerUID=")
	pods := list.(*corev1.PodList)
	for _, key := range r.w.keys(r.s) {
		if pod, ok := r.s[key].(*corev1.Pod); ok && pod.Namespace == o.Namespace {
			if owner := metav1.GetControllerOf(pod); owner != nil && string(owner.UID) == uid {
				pods.Items = append(pods.Items, *pod.DeepCopy())
			}
		}
	}
	return nil
}

// writer simulates the API server, with only the methods that the controllers call.
type writer struct {
	client.Client
	w *world
}

func (a writer) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	return reader{a.w, a.w.api}.Get(ctx, key, into, o...)
}

func (a writer) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	return a.w.write(func() error {
		if _, there := a.w.api[keyOf(o)]; there {
			return apierrors.NewAlreadyExists(schema.GroupResource{}, o.GetName())
		}
		a.w.put(o.DeepCopyObject().(client.Object))
		return nil
	})
}

func (a writer) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	return a.w.write(func() error {
		there, ok := a.w.api[keyOf(o)]
		if !ok {
			return apierrors.NewNotFound(schema.GroupResource{}, o.GetName())
		}
		d := client.DeleteOptions{}
		d.ApplyOptions(options)
		if d.Preconditions != nil && d.Preconditions.UID != nil && *d.Preconditions.UID != there.GetUID() {
			return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("another object"))
		}
		a.w.remove(keyOf(o))
		return nil
	})
}

// Patch supports the two patches that the controllers make: a merge patch of a PodGroup, and the annotation of a pod.
func (a writer) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return a.w.write(func() error {
		there, ok := a.w.api[keyOf(o)]
		if !ok {
			return apierrors.NewNotFound(schema.GroupResource{}, o.GetName())
		}
		switch there := there.DeepCopyObject().(type) {
		case *corev1.Pod:
			text, err := patch.Data(o)
			if err != nil {
				return err
			}
			if !strings.Contains(string(text), `"uid":"`+string(there.UID)+`"`) {
				return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("another pod"))
			}
			there.Annotations[keys.GroupName] = nameOf(there)
			a.w.put(there)
		case *schedulingv1beta1.PodGroup:
			update := o.(*schedulingv1beta1.PodGroup)
			there.Spec, there.Annotations, there.Labels = update.Spec, update.Annotations, update.Labels
			a.w.put(there)
		}
		return nil
	})
}
