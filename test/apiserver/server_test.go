package apiserver

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

var testScheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(api.AddToScheme(scheme))
	return scheme
}()

// fixture is a server with a namespace, a clock and a client.
type fixture struct {
	*testing.T
	*Client
	server *Server
	now    time.Time
}

const testNamespace = "ns"

func newFixture(t *testing.T) *fixture {
	f := &fixture{T: t, now: time.Unix(1_700_000_000, 0)}
	f.server = New(testScheme, func() time.Time { return f.now })
	f.Client = NewClient(testScheme, func(_ context.Context, r *Request) (runtime.Object, error) { return f.server.Do(r) })
	f.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testNamespace}})
	return f
}

func (f *fixture) create(o client.Object) {
	f.Helper()
	if err := f.Create(f.Context(), o); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) get(o client.Object) error {
	return f.Get(f.Context(), client.ObjectKeyFromObject(o), o)
}

func (f *fixture) bind(pod *corev1.Pod, node string) error {
	return f.SubResource("binding").Create(f.Context(), pod, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
	})
}

func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
	}
}

func newJob(name string) *batchv1alpha1.Job {
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: name},
		Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "t", Replicas: 2, Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}},
		}}}},
	}
}

func TestUpdateWithAnOldResourceVersionConflicts(t *testing.T) {
	f := newFixture(t)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "c"}, Data: map[string]string{"k": "1"}}
	f.create(config)
	old := config.DeepCopy()
	config.Data["k"] = "2"
	if err := f.Update(f.Context(), config); err != nil {
		t.Fatal(err)
	}
	old.Data["k"] = "3"
	if err := f.Update(f.Context(), old); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
	if err := f.get(old); err != nil || old.Data["k"] != "2" {
		t.Errorf("got %v, %v", old.Data, err)
	}
}

func TestNoOpWriteCreatesNoVersion(t *testing.T) {
	f := newFixture(t)
	job := newJob("j")
	f.create(job)
	before := f.server.Version()
	if err := f.Update(f.Context(), job.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"minAvailable":null}}`))
	if err := f.Patch(f.Context(), job.DeepCopy(), patch); err != nil {
		t.Fatal(err)
	}
	if after := f.server.Version(); after != before {
		t.Errorf("version %d, want %d", after, before)
	}
}

func TestStatusAndSpecAreWrittenSeparately(t *testing.T) {
	f := newFixture(t)
	job := newJob("j")
	f.create(job)
	job.Status.Running, job.Spec.MinAvailable = 1, 1
	if err := f.Status().Update(f.Context(), job); err != nil {
		t.Fatal(err)
	}
	if job.Status.Running != 1 || job.Spec.MinAvailable != 0 || job.Generation != 1 {
		t.Errorf("after the status: %+v %+v generation %d", job.Status, job.Spec, job.Generation)
	}
	job.Status.Running, job.Spec.MinAvailable = 2, 1
	if err := f.Update(f.Context(), job); err != nil {
		t.Fatal(err)
	}
	if job.Status.Running != 1 || job.Spec.MinAvailable != 1 || job.Generation != 2 {
		t.Errorf("after the spec: %+v %+v generation %d", job.Status, job.Spec, job.Generation)
	}
}

func TestBindingOfAPod(t *testing.T) {
	f := newFixture(t)
	pod := newPod("p")
	f.create(pod)
	if err := f.bind(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "p", UID: "other"}}, "n"); !apierrors.IsConflict(err) {
		t.Errorf("another UID: got %v, want a conflict", err)
	}
	if err := f.bind(pod, "n"); err != nil {
		t.Fatal(err)
	}
	if err := f.bind(pod, "n"); !apierrors.IsConflict(err) {
		t.Errorf("bound again: got %v, want a conflict", err)
	}
	if err := f.get(pod); err != nil || pod.Spec.NodeName != "n" || pod.Status.Conditions[0].Type != corev1.PodScheduled {
		t.Errorf("got %+v, %v", pod, err)
	}
}

func TestGracefulDeletionOfAPod(t *testing.T) {
	f := newFixture(t)
	unbound, bound := newPod("unbound"), newPod("bound")
	f.create(unbound)
	f.create(bound)
	if err := f.bind(bound, "n"); err != nil {
		t.Fatal(err)
	}
	for _, pod := range []*corev1.Pod{unbound, bound} {
		if err := f.Delete(f.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.get(unbound); !apierrors.IsNotFound(err) {
		t.Errorf("a pod without a node still exists: %v", err)
	}
	if err := f.get(bound); err != nil || bound.DeletionTimestamp == nil || *bound.DeletionGracePeriodSeconds != 30 {
		t.Errorf("got %+v, %v", bound.ObjectMeta, err)
	}
	if err := f.bind(bound, "n"); !apierrors.IsConflict(err) {
		t.Errorf("bind of a terminating pod: got %v, want a conflict", err)
	}
	if err := f.Delete(f.Context(), bound, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	if err := f.get(bound); !apierrors.IsNotFound(err) {
		t.Errorf("the kubelet's deletion left the pod: %v", err)
	}
}

func TestFinalizersDelayDeletion(t *testing.T) {
	f := newFixture(t)
	job := newJob("j")
	job.Finalizers = []string{"example.com/f"}
	f.create(job)
	if err := f.Delete(f.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := f.get(job); err != nil || job.DeletionTimestamp == nil {
		t.Fatalf("got %+v, %v", job.ObjectMeta, err)
	}
	job.Finalizers = nil
	if err := f.Update(f.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := f.get(job); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestPatchWithAnotherUIDIsRejected(t *testing.T) {
	f := newFixture(t)
	pod := newPod("p")
	f.create(pod)
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"uid": "other", "annotations": map[string]string{"a": "b"}}})
	err := f.Patch(f.Context(), newPod("p"), client.RawPatch(types.MergePatchType, patch))
	t.Logf("%v", err)
	if err == nil {
		t.Error("the patch succeeded")
	}
}

func BenchmarkPods(b *testing.B) {
	now := time.Unix(1_700_000_000, 0)
	run := func(name string, f func(b *testing.B, s *Server, n int)) {
		b.Run(name, func(b *testing.B) {
			s := New(testScheme, func() time.Time { return now })
			do(b, s, &Request{Verb: Create, Kind: namespaceKind, Object: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testNamespace}}})
			do(b, s, &Request{Verb: Create, Kind: podKind, Namespace: testNamespace, Object: newPod("p")})
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				f(b, s, n)
			}
		})
	}
	run("get", func(b *testing.B, s *Server, n int) {
		do(b, s, &Request{Verb: Get, Kind: podKind, Namespace: testNamespace, Name: "p"})
	})
	run("create and delete", func(b *testing.B, s *Server, n int) {
		do(b, s, &Request{Verb: Create, Kind: podKind, Namespace: testNamespace, Object: newPod("q")})
		do(b, s, &Request{Verb: Delete, Kind: podKind, Namespace: testNamespace, Name: "q"})
		s.History = s.History[:0]
	})
	run("annotate", func(b *testing.B, s *Server, n int) {
		patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{"n": now.Add(time.Duration(n)).String()}}})
		do(b, s, &Request{Verb: Patch, Kind: podKind, Namespace: testNamespace, Name: "p", PatchType: types.MergePatchType, Patch: patch})
		s.History = s.History[:0]
	})
	run("status", func(b *testing.B, s *Server, n int) {
		pod := newPod("p")
		pod.Status.Message = now.Add(time.Duration(n)).String()
		do(b, s, &Request{Verb: Update, Subresource: "status", Kind: podKind, Namespace: testNamespace, Name: "p", Object: pod})
		s.History = s.History[:0]
	})
}

func do(tb testing.TB, s *Server, r *Request) runtime.Object {
	tb.Helper()
	r.Shared = true
	o, err := s.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}
