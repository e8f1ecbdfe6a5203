package podgroup

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	"github.com/vc-batch/vc/api/keys"
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
)

func newFake(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...)
	for _, i := range index.All() {
		b = b.WithIndex(i.Object, i.Name, i.Values)
	}
	return b.Build()
}

func groupsIn(t *testing.T, c client.Client) []scheduling.PodGroup {
	t.Helper()
	var list scheduling.PodGroupList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func replicaSet(replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: "ns", UID: "owner-uid", Annotations: map[string]string{keys.GroupMinMember: "2"}},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas},
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
	w := workload[*appsv1.ReplicaSet]{r, func() *appsv1.ReplicaSet { return &appsv1.ReplicaSet{} }, func(s *appsv1.ReplicaSet) *int32 { return s.Spec.Replicas }}
	turn := func() []scheduling.PodGroup {
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
	if groups := turn(); len(groups) != 0 {
		t.Errorf("groups %+v of a workload scaled to nothing", groups)
	}
}
