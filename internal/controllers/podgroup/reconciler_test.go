package podgroup

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

// clientScheme returns the kinds of Kubernetes and of this project.
var clientScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return scheme
})

func newFake(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	b := fake.NewClientBuilder().WithScheme(clientScheme()).WithObjects(objects...)
	for _, i := range index.All() {
		b = b.WithIndex(i.Object, i.Name, i.Values)
	}
	return b.Build()
}

func groupsIn(t *testing.T, c client.Client) []schedulingv1beta1.PodGroup {
	t.Helper()
	var list schedulingv1beta1.PodGroupList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func replicaSet(replicas int32) *appsv1.ReplicaSet {
	labels := map[string]string{"app": "a"}
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: "ns", UID: "owner-uid", Annotations: map[string]string{keys.GroupMinMember: "2"}},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: metav1.SetAsLabelSelector(labels), Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}
}

func TestAPodIsGivenItsGroup(t *testing.T) {
	t.Parallel()
	foreign := testPod(func(p *corev1.Pod) { p.Name, p.Spec.SchedulerName = "foreign", "default-scheduler" })
	grouped := testPod(func(p *corev1.Pod) { p.Name, p.Annotations[keys.GroupName] = "grouped", "mine" })
	c := newFake(t, testPod(ownedBy("ReplicaSet")), foreign, grouped, replicaSet(1))
	r := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}})
	for _, name := range []string{"p", "foreign", "grouped", "nobody", "p"} {
		if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
	groups := groupsIn(t, c)
	if len(groups) != 1 || groups[0].Name != "podgroup-owner-uid" || groups[0].Spec.MinMember != 2 {
		t.Fatalf("groups %+v", groups)
	}
	for name, want := range map[string]string{"p": "podgroup-owner-uid", "foreign": "", "grouped": "mine"} {
		var pod corev1.Pod
		if err := c.Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: name}, &pod); err != nil {
			t.Fatal(err)
		}
		if got := pod.Annotations[keys.GroupName]; got != want {
			t.Errorf("%s is in %q, want %q", name, got, want)
		}
	}
}

func TestTheGroupOfAWorkloadFollowsIt(t *testing.T) {
	t.Parallel()
	set := replicaSet(1)
	pod := testPod(ownedBy("ReplicaSet"))
	c := newFake(t, pod, set)
	r := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}})
	w := r.replicaSetWorkload()
	turn := func() []schedulingv1beta1.PodGroup {
		if _, err := w.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(set)}); err != nil {
			t.Fatal(err)
		}
		return groupsIn(t, c)
	}
	if groups := turn(); len(groups) != 1 || groups[0].Spec.MinMember != 2 {
		t.Fatalf("groups %+v", groups)
	}
	set.Annotations[keys.GroupMinMember] = "5"
	if err := c.Update(context.Background(), set); err != nil {
		t.Fatal(err)
	}
	if groups := turn(); groups[0].Spec.MinMember != 5 {
		t.Errorf("minMember %d after the annotation changed to 5", groups[0].Spec.MinMember)
	}
	none := int32(0)
	set.Spec.Replicas = &none
	if err := c.Update(context.Background(), set); err != nil {
		t.Fatal(err)
	}
	if groups := turn(); len(groups) != 1 {
		t.Error("the group is gone while a pod of it runs")
	}
	if err := c.Delete(context.Background(), pod); err != nil {
		t.Fatal(err)
	}
	if groups := turn(); len(groups) != 0 {
		t.Errorf("groups %+v of a workload scaled to nothing", groups)
	}
}

func TestAGroupThatIsRefusedIsToldToItsPod(t *testing.T) {
	t.Parallel()
	pod := testPod(nil)
	c := interceptor.NewClient(newFake(t, pod).(client.WithWatch), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return apierrors.NewInvalid(schema.GroupKind{Group: "scheduling.volcano.sh", Kind: "PodGroup"}, "x", field.ErrorList{
				field.Invalid(field.NewPath("spec", "queue"), "nowhere", "unable to find queue")})
		},
	})
	recorder := record.NewFakeRecorder(1)
	r := New(Options{Cache: c, API: c, Recorder: recorder, Schedulers: []string{"volcano"}})
	if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)}); err == nil {
		t.Error("it is not tried again")
	}
	if event := <-recorder.Events; !strings.Contains(event, "Warning PodGroupError") || !strings.Contains(event, "unable to find queue") {
		t.Errorf("event %q", event)
	}
}

func TestAPodIsToldThatItsGroupCannotBeMade(t *testing.T) {
	t.Parallel()
	events := record.NewFakeRecorder(9)
	down := apierrors.NewInternalError(errors.New(`failed calling webhook "validatepodgroup.volcano.sh": connection refused`))
	c := interceptor.NewClient(newFake(t, testPod(nil)).(client.WithWatch), interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return down },
	})
	r := New(Options{Cache: c, API: c, Recorder: events, Schedulers: []string{"volcano"}})
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(testPod(nil))}); err == nil {
		t.Error("the failure is not returned, so it is not tried again")
	}
	select {
	case event := <-events.Events:
		if !strings.Contains(event, "PodGroupError the pod is waiting for its PodGroup, which cannot be created: ") || !strings.Contains(event, "connection refused") {
			t.Errorf("event %q", event)
		}
	default:
		t.Error("no event")
	}
}

func TestAnnotationsThatGoAreTakenBack(t *testing.T) {
	t.Parallel()
	pod := testPod(ownedBy("ReplicaSet"))
	there := groupFor(pod, map[string]string{"volcano.sh/a": "1", "volcano.sh/b": "2"})
	there.Annotations["volcano.sh/job-allocated-hypernode"] = "s0" // set by the scheduler
	there.Spec.Queue = "research"                                  // queue of the namespace, set by admission
	update, changed := refreshed(there, groupFor(pod, map[string]string{"volcano.sh/b": "3"}))
	want := map[string]string{"volcano.sh/b": "3", "volcano.sh/job-allocated-hypernode": "s0", keys.TakenOver: "volcano.sh/b"}
	if diff := cmp.Diff(want, update.Annotations); !changed || diff != "" || update.Spec.Queue != "research" {
		t.Errorf("changed %v, queue %s (-want +got):\n%s", changed, update.Spec.Queue, diff)
	}
	if _, again := refreshed(update, groupFor(pod, map[string]string{"volcano.sh/b": "3"})); again {
		t.Error("nothing changed, and yet it is written again")
	}
}
