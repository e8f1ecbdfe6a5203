package apiserver

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
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
	f.Client = f.server.Client()
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

// TestRenewalOfALease verifies that a renewal creates a version, and that it is validated if it changes something else.
func TestRenewalOfALease(t *testing.T) {
	f := newFixture(t)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "l"}}
	lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = ptr.To[int32](15), &metav1.MicroTime{Time: time.Unix(1000, 0)}
	f.create(lease)
	before := lease.ResourceVersion
	renewed := metav1.MicroTime{Time: time.Unix(1002, 500_000)}
	lease.Spec.RenewTime = &renewed
	if err := f.Update(f.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if err := f.get(lease); err != nil || lease.ResourceVersion == before || !lease.Spec.RenewTime.Equal(&renewed) {
		t.Errorf("got version %s with %v, %v", lease.ResourceVersion, lease.Spec.RenewTime, err)
	}
	before = lease.ResourceVersion
	if err := f.Update(f.Context(), lease); err != nil || lease.ResourceVersion != before {
		t.Errorf("an update without a change created version %s after %s: %v", lease.ResourceVersion, before, err)
	}
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &metav1.MicroTime{Time: time.Unix(1004, 0)}, ptr.To[int32](0)
	if err := f.Update(f.Context(), lease); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want that a lease of 0 seconds is invalid", err)
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
	job = Find[*batchv1alpha1.Job](f.server, testNamespace, "j").DeepCopy()
	if job.Status.Running != 1 || job.Spec.MinAvailable != 0 || job.Generation != 1 {
		t.Errorf("after the status: %+v %+v generation %d", job.Status, job.Spec, job.Generation)
	}
	job.Status.Running, job.Spec.MinAvailable = 2, 1
	if err := f.Update(f.Context(), job); err != nil {
		t.Fatal(err)
	}
	job = Find[*batchv1alpha1.Job](f.server, testNamespace, "j")
	if job.Status.Running != 1 || job.Spec.MinAvailable != 1 || job.Generation != 2 {
		t.Errorf("after the spec: %+v %+v generation %d", job.Status, job.Spec, job.Generation)
	}
}

// TestGetKeepsFieldsThatOnlyJSONOmits verifies that the client decodes JSON into the caller's object, as the real client
// does, and that protobuf replaces the object.
func TestGetKeepsFieldsThatOnlyJSONOmits(t *testing.T) {
	f := newFixture(t)
	f.create(newJob("j"))
	f.create(newPod("p"))
	job, pod := newJob("j"), newPod("p")
	job.Spec.MinAvailable, job.Annotations = 7, map[string]string{"old": "1"}
	pod.Status.Message, pod.Annotations = "old", map[string]string{"old": "1"}
	if err := errors.Join(f.get(job), f.get(pod)); err != nil {
		t.Fatal(err)
	}
	if job.Spec.MinAvailable != 7 || job.Annotations["old"] != "1" || job.Spec.Queue != "default" {
		t.Errorf("job: %+v %+v", job.Annotations, job.Spec)
	}
	if pod.Status.Message != "" || pod.Annotations["old"] != "" || pod.Spec.ServiceAccountName != "default" {
		t.Errorf("pod: %+v %+v", pod.Annotations, pod.Status)
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
	for _, kind := range []types.PatchType{types.MergePatchType, types.StrategicMergePatchType} {
		if err := f.Patch(f.Context(), newPod("p"), client.RawPatch(kind, patch)); !apierrors.IsInvalid(err) {
			t.Errorf("%s: got %v, want an invalid request", kind, err)
		}
	}
	patch, _ = json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": "1", "annotations": map[string]string{"a": "b"}}})
	if err := f.Patch(f.Context(), newPod("p"), client.RawPatch(types.MergePatchType, patch)); !apierrors.IsConflict(err) {
		t.Errorf("an old resource version: got %v, want a conflict", err)
	}
}

func TestDeletedPodWithoutNodeIsMarkedBeforeItIsRemoved(t *testing.T) {
	f := newFixture(t)
	f.create(newPod("p"))
	version := f.server.Version()
	if err := f.Delete(f.Context(), newPod("p")); err != nil {
		t.Fatal(err)
	}
	changes := f.server.ChangesAfter(version)
	if len(changes) != 2 || changes[0].Object.GetDeletionTimestamp() == nil || changes[1].Object != nil {
		t.Errorf("got %+v", changes)
	}
}

func TestQuotaLimitsPods(t *testing.T) {
	f := newFixture(t)
	f.create(&corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": *newQuantity("1")}}})
	f.create(newPod("before")) // the status has no limits yet
	for _, r := range f.server.QuotaRequests() {
		if _, err := f.server.Do(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Create(f.Context(), newPod("p")); !apierrors.IsForbidden(err) {
		t.Errorf("got %v, want forbidden", err)
	}
	if err := f.Delete(f.Context(), newPod("before")); err != nil {
		t.Fatal(err)
	}
	for _, r := range f.server.QuotaRequests() {
		if _, err := f.server.Do(r); err != nil {
			t.Fatal(err)
		}
	}
	f.create(newPod("p"))
}

func TestPagesShowTheObjectsAsOfTheFirstPage(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.create(newPod(name))
	}
	var names []string
	var pods corev1.PodList
	for more := ""; ; {
		if err := f.List(f.Context(), &pods, client.InNamespace(testNamespace), client.Limit(1), client.Continue(more)); err != nil {
			t.Fatal(err)
		}
		names = append(names, pods.Items[0].Name)
		if more = pods.Continue; more == "" {
			break
		}
		_ = f.Delete(f.Context(), newPod("b"))
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestContinueTokensExpire verifies that a list cannot be continued after its version has been compacted, and that the error
// contains a token for the remaining objects as they are now.
func TestContinueTokensExpire(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.create(newPod(name))
	}
	var pods corev1.PodList
	if err := f.List(f.Context(), &pods, client.InNamespace(testNamespace), client.Limit(1)); err != nil {
		t.Fatal(err)
	}
	_ = f.Delete(f.Context(), newPod("b"))
	f.server.Compact()
	err := f.List(f.Context(), &pods, client.InNamespace(testNamespace), client.Limit(1), client.Continue(pods.Continue))
	var expired apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) || !errors.As(err, &expired) {
		t.Fatalf("got %v, want an expired token", err)
	}
	if err := f.List(f.Context(), &pods, client.InNamespace(testNamespace), client.Continue(expired.Status().Continue)); err != nil {
		t.Fatal(err)
	}
	if len(pods.Items) != 1 || pods.Items[0].Name != "c" {
		t.Errorf("got %d pods", len(pods.Items))
	}
	err = f.List(f.Context(), &pods, client.InNamespace(testNamespace), client.Continue("!"))
	if !apierrors.IsBadRequest(err) {
		t.Errorf("got %v, want a bad request", err)
	}
}

func TestSchemasAreValidatedOnRequest(t *testing.T) {
	f := newFixture(t)
	job := newJob("j")
	job.Spec.Tasks[0].Replicas = -1
	f.server.ValidateSchemas = true
	if err := f.Create(f.Context(), job.DeepCopy()); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want an invalid object", err)
	}
	f.server.ValidateSchemas = false
	f.create(job)
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

func TestApplyKeepsFieldsOfOthersAndRemovesOwnFields(t *testing.T) {
	f := newFixture(t)
	f.create(&schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}})
	api := OutboxAPI{Send: f.send}
	queue := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	if err := f.Status().Patch(f.Context(), queue, client.RawPatch(types.MergePatchType, []byte(`{"status":{"state":"Open","pending":2}}`))); err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{`{"allocated":{"cpu":"1","memory":"1Gi"},"terminating":{"cpu":"1"},"waiting":0}`, `{"allocated":{"cpu":"2"},"waiting":0}`} {
		if err := api.ApplyQueueStatus(f.Context(), "q", []byte(`{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"status":`+status+`}`)); err != nil {
			t.Fatal(err)
		}
		version := f.server.Version()
		if err := api.ApplyQueueStatus(f.Context(), "q", []byte(`{"status":`+status+`}`)); err != nil {
			t.Fatal(err)
		}
		if f.server.Version() != version {
			t.Error("a repeated apply created a version")
		}
	}
	if err := f.get(queue); err != nil {
		t.Fatal(err)
	}
	want := schedulingv1beta1.QueueStatus{
		State: schedulingv1beta1.QueueStateOpen, Pending: 2, Allocated: corev1.ResourceList{"cpu": resource.MustParse("2")},
	}
	if diff := cmp.Diff(want, queue.Status); diff != "" {
		t.Error(diff)
	}
}

// collectAll lets the garbage collector work until nothing is left to do.
func (f *fixture) collectAll() (requests []string) {
	for {
		next := append(append(f.server.GarbageRequests(), f.server.NamespaceRequests()...), f.server.VolumeProtectionRequests()...)
		if len(next) == 0 {
			return requests
		}
		for _, r := range next {
			requests = append(requests, string(r.Verb)+" "+r.Kind.Kind+" "+r.Name)
			if _, err := f.server.Do(r); err != nil {
				f.Logf("%s %s %s: %v", r.Verb, r.Kind.Kind, r.Name, err)
			}
		}
	}
}

func TestForegroundDeletionRemovesDependentsFirst(t *testing.T) {
	f := newFixture(t)
	job := newJob("j")
	f.create(job)
	pods := []*corev1.Pod{newPod("p2"), newPod("p1")}
	for _, pod := range pods {
		owner := metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))
		pod.OwnerReferences = []metav1.OwnerReference{*owner}
		f.create(pod)
		if err := f.bind(pod, "n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Delete(f.Context(), job, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"delete Pod p1", "delete Pod p2"}, f.collectAll()); diff != "" {
		t.Error(diff)
	}
	if err := f.get(job); err != nil {
		t.Errorf("the job was deleted before its pods: %v", err)
	}
	for _, pod := range pods {
		if err := f.Delete(f.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"patch Job j"}, f.collectAll()); diff != "" {
		t.Error(diff)
	}
	if err := f.get(job); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestOrphansKeepTheirPodsAndDanglingPodsAreDeleted(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationOrphan:     {"patch Pod p", "patch Job j"},
		metav1.DeletePropagationBackground: {"delete Pod p"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			f := newFixture(t)
			job, pod := newJob("j"), newPod("p")
			f.create(job)
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
			f.create(pod)
			if err := f.Delete(f.Context(), job, client.PropagationPolicy(policy)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, f.collectAll()); diff != "" {
				t.Error(diff)
			}
			if err := f.get(job); !apierrors.IsNotFound(err) {
				t.Errorf("the job still exists: %v", err)
			}
		})
	}
}

func TestTerminatingNamespaceRejectsObjectsAndIsEmptied(t *testing.T) {
	f := newFixture(t)
	f.create(newPod("p"))
	f.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "c"}})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testNamespace}}
	if err := f.Delete(f.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	if err := f.Create(f.Context(), newPod("late")); !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("got %v, want the cause %s", err, corev1.NamespaceTerminatingCause)
	}
	if diff := cmp.Diff([]string{"delete Pod p", "delete ConfigMap c", "update Namespace ns"}, f.collectAll()); diff != "" {
		t.Error(diff)
	}
	if err := f.get(namespace); !apierrors.IsNotFound(err) {
		t.Errorf("the namespace still exists: %v", err)
	}
	if err := f.Create(f.Context(), newPod("later")); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestListAsOfAVersion(t *testing.T) {
	f := newFixture(t)
	f.create(newPod("a"))
	f.create(newPod("b"))
	version := f.server.Version()
	if err := f.Delete(f.Context(), newPod("a")); err != nil {
		t.Fatal(err)
	}
	f.create(newPod("c"))
	for at, want := range map[uint64][]string{version: {"a", "b"}, f.server.Version(): {"b", "c"}, version - 1: {"a"}} {
		objects, err := f.server.ObjectsAt(podKind, at)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, o := range objects {
			names = append(names, o.GetName())
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("version %d: %s", at, diff)
		}
	}
}

func TestCacheFollowsChangesAndHasIndexes(t *testing.T) {
	f := newFixture(t)
	cache := NewCache()
	f.server.Changed = cache.Apply
	job := newJob("j")
	f.create(job)
	for _, name := range []string{"b", "a", "c"} {
		pod := newPod(name)
		if name != "c" {
			pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
		}
		f.create(pod)
	}
	var pods corev1.PodList
	names := func(opts ...client.ListOption) (names []string) {
		if err := cache.List(f.Context(), &pods, opts...); err != nil {
			t.Fatal(err)
		}
		for i := range pods.Items {
			names = append(names, pods.Items[i].Name)
		}
		return names
	}
	owned := client.MatchingFields{index.PodController: string(job.UID)}
	if diff := cmp.Diff([]string{"a", "b"}, names(owned, client.UnsafeDisableDeepCopy)); diff != "" {
		t.Error(diff)
	}
	if err := f.Delete(f.Context(), newPod("a")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, names(owned)); diff != "" {
		t.Error(diff)
	}
	listed, err := f.server.ObjectsAt(podKind, f.server.Version())
	if err != nil {
		t.Fatal(err)
	}
	var replaced []string
	for _, c := range cache.Replace(podKind, listed[:1]) {
		if c.Object == nil {
			replaced = append(replaced, "delete "+c.Old.GetName())
		} else if c.Old != nil {
			replaced = append(replaced, "update "+c.Object.GetName())
		}
	}
	if diff := cmp.Diff([]string{"delete c", "update b"}, replaced); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b"}, names()); diff != "" {
		t.Error(diff)
	}
}

func newQuantity(text string) *resource.Quantity {
	q := resource.MustParse(text)
	return &q
}
