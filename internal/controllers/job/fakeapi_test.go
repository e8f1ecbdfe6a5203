package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/vc-batch/vc/internal/controllers/index"
)

// errCrashed is what every call returns once the process is dead.
var errCrashed = errors.New("the process is dead")

// store is a map of objects by kind and name, with what the API server knows of versions and preconditions.
type store map[string]client.Object

func storeKey(kind string, name types.NamespacedName) string { return kind + " " + name.String() }

func kindOf(o any) string { return reflect.TypeOf(o).Elem().Name() }

// change is one entry of the history of the API.
type change struct {
	kind        string
	old, object client.Object // nil old: created; nil object: deleted
}

// fakeAPI is the API server of the property tests: plain data in one process, with a history that late caches follow.
type fakeAPI struct {
	client.Client // nil: what is not overridden is not used
	scheme        *runtime.Scheme
	objects       store
	history       []change
	version       int
	uids          int
	now           func() time.Time
	// writesLeft is how many writes succeed before the process dies; -1: all.
	writesLeft int
	// lostReply: the last write before the death is carried out, only nobody hears of it.
	lostReply bool
	writes    []string
	refuse    map[string]error
	// ills befall the next writes, one each; ill says that one has.
	ills []ill
	ill  bool
}

// ill is what may be wrong with an API server for a moment.
type ill struct {
	err  error // nil: nothing
	done bool  // the write is carried out all the same
}

var ills = []ill{
	{}, {},
	{err: apierrors.NewTooManyRequests("slow down", 1)},
	{err: apierrors.NewInternalError(errors.New("etcd has no leader"))},
	{err: apierrors.NewTimeoutError("it took too long", 1)},
	{err: apierrors.NewTimeoutError("it took too long", 1), done: true},
	{err: apierrors.NewConflict(schema.GroupResource{Resource: "jobs"}, "job", errors.New("somebody was quicker"))},
}

// befall takes the next ill for a write. Nobody is quicker than a write that does not say what it rests on.
func (f *fakeAPI) befall(what string) ill {
	if len(f.ills) == 0 {
		return ill{}
	}
	next := f.ills[0]
	f.ills = f.ills[1:]
	if apierrors.IsConflict(next.err) && what != "status of Job job" && what != "patch Job job" {
		return ill{}
	}
	f.ill = f.ill || next.err != nil
	return next
}

func newFakeAPI(scheme *runtime.Scheme, now func() time.Time) *fakeAPI {
	return &fakeAPI{scheme: scheme, objects: store{}, now: now, writesLeft: -1}
}

// begin counts a write; an error means that it does not happen. done is called after it happened.
func (f *fakeAPI) begin(what string) (done func() error, err error) {
	f.writes = append(f.writes, what)
	if err := f.refuse[what]; err != nil {
		return nil, err
	}
	ill := f.befall(what)
	switch {
	case ill.err != nil && !ill.done:
		return nil, ill.err
	case f.writesLeft < 0:
		return func() error { return ill.err }, nil
	case f.writesLeft == 0:
		return nil, errCrashed
	}
	f.writesLeft--
	return func() error {
		if f.writesLeft == 0 && f.lostReply {
			return errCrashed
		}
		return nil
	}, nil
}

func (f *fakeAPI) resource(o client.Object) schema.GroupResource {
	return schema.GroupResource{Resource: kindOf(o)}
}

func (f *fakeAPI) find(o client.Object) (client.Object, error) {
	there := f.objects[storeKey(kindOf(o), client.ObjectKeyFromObject(o))]
	if there == nil {
		return nil, apierrors.NewNotFound(f.resource(o), o.GetName())
	}
	return there, nil
}

// put stores an object as the API server would, without counting as a write of the process under test.
func (f *fakeAPI) put(o client.Object) client.Object {
	key := storeKey(kindOf(o), client.ObjectKeyFromObject(o))
	old := f.objects[key]
	stored := o.DeepCopyObject().(client.Object)
	f.version++
	stored.SetResourceVersion(strconv.Itoa(f.version))
	if old == nil {
		f.uids++
		stored.SetUID(types.UID(fmt.Sprintf("uid-%d", f.uids)))
		stored.SetCreationTimestamp(metav1.NewTime(f.now()))
		stored.SetGeneration(1)
	}
	f.objects[key] = stored
	f.history = append(f.history, change{kind: kindOf(o), old: old, object: stored})
	return stored
}

func (f *fakeAPI) remove(o client.Object) {
	key := storeKey(kindOf(o), client.ObjectKeyFromObject(o))
	if old := f.objects[key]; old != nil {
		delete(f.objects, key)
		f.version++
		f.history = append(f.history, change{kind: kindOf(o), old: old})
	}
}

func (f *fakeAPI) Scheme() *runtime.Scheme { return f.scheme }

func (f *fakeAPI) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, f.scheme)
}

func (f *fakeAPI) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	if f.writesLeft == 0 {
		return errCrashed
	}
	return f.objects.get(key, o)
}

func (s store) get(key client.ObjectKey, o client.Object) error {
	there := s[storeKey(kindOf(o), key)]
	if there == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kindOf(o)}, key.Name)
	}
	copyInto(there, o)
	return nil
}

func copyInto(from, to client.Object) {
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

func (f *fakeAPI) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if f.writesLeft == 0 {
		return errCrashed
	}
	return f.objects.list(list, opts...)
}

// list fills a list in the order of names, by namespace, labels and the indexes of the controllers.
func (s store) list(list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	kind := kindOf(list)
	kind = kind[:len(kind)-len("List")]
	var found []runtime.Object
	for _, key := range slices.Sorted(maps.Keys(s)) {
		object := s[key]
		if kindOf(object) != kind || o.Namespace != "" && object.GetNamespace() != o.Namespace ||
			o.LabelSelector != nil && !o.LabelSelector.Matches(labelSet(object.GetLabels())) || !indexed(object, &o) {
			continue
		}
		found = append(found, object.DeepCopyObject())
	}
	return meta.SetList(list, found)
}

// indexes are those of the controllers, made once.
var indexes = index.All()

type labelSet map[string]string

func (l labelSet) Has(k string) bool              { _, ok := l[k]; return ok }
func (l labelSet) Get(k string) string            { return l[k] }
func (l labelSet) Lookup(k string) (string, bool) { v, ok := l[k]; return v, ok }

func indexed(o client.Object, opts *client.ListOptions) bool {
	if opts.FieldSelector == nil {
		return true
	}
	for _, requirement := range opts.FieldSelector.Requirements() {
		for _, i := range indexes {
			if i.Name == requirement.Field && !slices.Contains(i.Values(o), requirement.Value) {
				return false
			}
		}
	}
	return true
}

func (f *fakeAPI) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	done, err := f.begin("create " + kindOf(o) + " " + o.GetName())
	if err != nil {
		return err
	}
	if _, err := f.find(o); err == nil {
		return apierrors.NewAlreadyExists(f.resource(o), o.GetName())
	}
	copyInto(f.put(o), o)
	return done()
}

func (f *fakeAPI) Delete(_ context.Context, o client.Object, opts ...client.DeleteOption) error {
	done, err := f.begin("delete " + kindOf(o) + " " + o.GetName())
	if err != nil {
		return err
	}
	there, err := f.find(o)
	if err != nil {
		return err
	}
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != there.GetUID() || p.ResourceVersion != nil && *p.ResourceVersion != there.GetResourceVersion() {
			return apierrors.NewConflict(f.resource(o), o.GetName(), errors.New("precondition failed"))
		}
	}
	f.doom(there)
	return done()
}

// doom deletes: a pod that is not finished gets its grace, all else goes at once.
func (f *fakeAPI) doom(there client.Object) {
	pod, isPod := there.(*corev1.Pod)
	if !isPod || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodPending {
		f.remove(there)
		return
	}
	if pod.DeletionTimestamp != nil {
		return
	}
	update := pod.DeepCopy()
	grace := int64(30)
	at := metav1.NewTime(f.now().Add(30 * time.Second))
	update.DeletionTimestamp, update.DeletionGracePeriodSeconds = &at, &grace
	f.put(update)
}

func (f *fakeAPI) Update(_ context.Context, o client.Object, _ ...client.UpdateOption) error {
	return f.update(o, "update")
}

func (f *fakeAPI) update(o client.Object, verb string) error {
	done, err := f.begin(verb + " " + kindOf(o) + " " + o.GetName())
	if err != nil {
		return err
	}
	there, err := f.find(o)
	if err != nil {
		return err
	}
	if o.GetResourceVersion() != "" && o.GetResourceVersion() != there.GetResourceVersion() || o.GetUID() != there.GetUID() {
		return apierrors.NewConflict(f.resource(o), o.GetName(), errors.New("the object has been modified"))
	}
	copyInto(f.put(o), o)
	return done()
}

func (f *fakeAPI) Patch(_ context.Context, o client.Object, patch client.Patch, _ ...client.PatchOption) error {
	done, err := f.begin("patch " + kindOf(o) + " " + o.GetName())
	if err != nil {
		return err
	}
	there, err := f.find(o)
	if err != nil {
		return err
	}
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	before, err := json.Marshal(there)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, data)
	if err != nil {
		return err
	}
	update := reflect.New(reflect.TypeOf(there).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(after, update); err != nil {
		return err
	}
	if update.GetUID() != there.GetUID() || update.GetResourceVersion() != there.GetResourceVersion() {
		return apierrors.NewConflict(f.resource(o), o.GetName(), errors.New("precondition failed"))
	}
	copyInto(f.put(update), o)
	return done()
}

func (f *fakeAPI) Status() client.SubResourceWriter { return statusWriter{api: f} }

type statusWriter struct {
	client.SubResourceWriter
	api *fakeAPI
}

func (w statusWriter) Update(_ context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return w.api.update(o, "status of")
}
