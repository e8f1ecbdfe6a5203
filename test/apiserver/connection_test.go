package apiserver

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func newConfigMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name}}
}

func TestProcessDiesAfterItsLastWrite(t *testing.T) {
	for name, loses := range map[string]bool{"with the response": false, "without the response": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			c := NewConnection(f.server)
			c.WritesLeft, c.LoseLastResponse = 2, loses
			first, last := c.Client().Create(t.Context(), newConfigMap("a")), c.Client().Create(t.Context(), newConfigMap("b"))
			if first != nil || errors.Is(last, ErrDead) != loses {
				t.Errorf("got %v and %v", first, last)
			}
			write, read := c.Client().Create(t.Context(), newConfigMap("c")), c.Client().Get(t.Context(), client.ObjectKey{Namespace: testNamespace, Name: "a"}, &corev1.ConfigMap{})
			if !errors.Is(write, ErrDead) || !errors.Is(read, ErrDead) {
				t.Errorf("after the death: got %v and %v", write, read)
			}
			if n := len(All[*corev1.ConfigMap](f.server)); n != 2 {
				t.Errorf("%d objects, want 2", n)
			}
			if diff := cmp.Diff([]string{"create ConfigMap ns/a", "create ConfigMap ns/b"}, c.Writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFaultsOccurInOrder(t *testing.T) {
	f := newFixture(t)
	c := NewConnection(f.server)
	timeout := apierrors.NewTimeoutError("it took too long", 1)
	conflict := Fault{Err: apierrors.NewConflict(f.server.pods.kind.resource, "x", errModified)}
	c.Faults = []Fault{{Err: timeout}, {}, {Err: timeout, TakesEffect: true}, conflict, conflict}
	for i, name := range []string{"a", "b", "c"} {
		if err := c.Client().Create(t.Context(), newConfigMap(name)); apierrors.IsTimeout(err) != (i != 1) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := c.Client().Create(t.Context(), newConfigMap("d")); err != nil {
		t.Errorf("a write without a version has a conflict: %v", err)
	}
	if err := c.Client().Update(t.Context(), Find[*corev1.ConfigMap](f.server, testNamespace, "d").DeepCopy()); !apierrors.IsConflict(err) {
		t.Errorf("a write with a version: got %v, want a conflict", err)
	}
	var names []string
	for _, o := range All[*corev1.ConfigMap](f.server) {
		names = append(names, o.Name)
	}
	if diff := cmp.Diff([]string{"b", "c", "d"}, names); diff != "" || !c.HasFailed {
		t.Errorf("has failed: %v; objects (-want +got):\n%s", c.HasFailed, diff)
	}
}

func TestRejectedRequestHasNoEffect(t *testing.T) {
	f := newFixture(t)
	c := NewConnection(f.server)
	c.Rejected = map[string]error{"create ConfigMap ns/a": errModified}
	if err := c.Client().Create(t.Context(), newConfigMap("a")); !errors.Is(err, errModified) {
		t.Errorf("got %v", err)
	}
	if len(All[*corev1.ConfigMap](f.server)) > 0 {
		t.Error("the object was created")
	}
}

func TestSaveStoresWhatSeveralComponentsWrite(t *testing.T) {
	f := newFixture(t)
	pod := newPod("p")
	pod.Namespace, pod.Status.Phase = "new", corev1.PodPending
	f.server.Save(pod)
	update := Find[*corev1.Pod](f.server, "new", "p").DeepCopy()
	update.Spec.NodeName, update.Status.Phase, update.Labels = "n", corev1.PodRunning, map[string]string{"a": "b"}
	f.server.Save(update)
	saved := Find[*corev1.Pod](f.server, "new", "p")
	if saved.Spec.NodeName != "n" || saved.Status.Phase != corev1.PodRunning || saved.Labels["a"] != "b" {
		t.Errorf("got %+v", saved)
	}
	version := f.server.Version()
	f.server.Save(saved)
	if f.server.Version() != version {
		t.Error("a save without a change creates a version")
	}
	f.server.Remove(saved)
	f.server.Remove(saved)
	if Find[*corev1.Pod](f.server, "new", "p") != nil {
		t.Error("the running pod was not removed at once")
	}
}

func TestCacheOfTheServerIsUpToDate(t *testing.T) {
	f := newFixture(t)
	f.create(newConfigMap("a"))
	cache := f.server.Cache()
	f.create(newConfigMap("b"))
	f.server.Remove(newConfigMap("a"))
	var list corev1.ConfigMapList
	if err := cache.List(t.Context(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Name != "b" {
		t.Errorf("got %v, %v", list.Items, err)
	}
}

func TestCacheListsMetadata(t *testing.T) {
	f := newFixture(t)
	config := newConfigMap("a")
	config.Labels = map[string]string{"k": "v"}
	f.create(config)
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := f.server.Cache().List(t.Context(), &list); err != nil || len(list.Items) != 1 || list.Items[0].Labels["k"] != "v" {
		t.Errorf("got %v, %v", list.Items, err)
	}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("UnknownList"))
	if err := f.server.Cache().List(t.Context(), &list); err == nil {
		t.Error("an unknown kind is listed")
	}
}

func TestModifiedObjectOfACacheIsFound(t *testing.T) {
	f := newFixture(t)
	f.server.KeepCopies = true
	config := newConfigMap("a")
	config.Data = map[string]string{"k": "1"}
	f.create(config)
	var list corev1.ConfigMapList
	if err := f.server.Cache().List(t.Context(), &list, client.UnsafeDisableDeepCopy); err != nil {
		t.Fatal(err)
	}
	if err := f.server.CheckUnmodified(); err != nil {
		t.Error(err)
	}
	list.Items[0].Data["k"] = "2"
	if f.server.CheckUnmodified() == nil {
		t.Error("the modification was not found")
	}
}
