package podgroup

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestTheGroupOfAStatefulSetIsMadeOfItsOwnPods uses two StatefulSets with the same name and labels in two namespaces,
// of which one has pods.
func TestTheGroupOfAStatefulSetIsMadeOfItsOwnPods(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	labels := map[string]string{"app": "db", appsv1.ControllerRevisionHashLabelKey: "db-1"}
	set := func(namespace string) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{
			ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: namespace, UID: "owner-uid", Annotations: map[string]string{keys.GroupMinMember: "2"}},
			Spec:       appsv1.StatefulSetSpec{Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}},
			Status:     appsv1.StatefulSetStatus{UpdateRevision: "db-1"},
		}
	}
	elsewhere := set("elsewhere")
	elsewhere.UID = "another-uid"
	pod := testPod(ownedBy("StatefulSet"))
	pod.Labels = labels
	mine := set("ns")
	c := newFake(t, mine, elsewhere, pod)
	w := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}}).statefulSetWorkload()
	turn := func(set *appsv1.StatefulSet) []schedulingv1beta1.PodGroup {
		if _, err := w.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(set)}); err != nil {
			t.Fatal(err)
		}
		return groupsIn(t, c)
	}
	if groups := turn(elsewhere); len(groups) != 0 {
		t.Fatalf("a group was made of a pod of another namespace: %+v", groups)
	}
	if groups := turn(mine); len(groups) != 1 || groups[0].Name != "podgroup-owner-uid" || groups[0].Namespace != "ns" || groups[0].Spec.MinMember != 2 {
		t.Fatalf("groups %+v", groups)
	}
	mine.Annotations[keys.GroupMinMember] = "1"
	mine.Spec.Replicas = new(int32(0))
	if err := c.Update(ctx, mine); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(ctx, pod); err != nil {
		t.Fatal(err)
	}
	if groups := turn(mine); len(groups) != 0 {
		t.Errorf("groups %+v of a StatefulSet of nothing", groups)
	}
}

func TestWhatAnOwnerSaysOfItsPods(t *testing.T) {
	t.Parallel()
	said := map[string]string{"volcano.sh/x": "y", "example.org/x": "y", keys.GroupMinMember: "3", keys.PodQueueName: "research"}
	meta := metav1.ObjectMeta{Name: "owner", Namespace: "ns", UID: "owner-uid", Annotations: said}
	controller := func(version, kind string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: "owner", UID: "owner-uid", Controller: new(true), BlockOwnerDeletion: new(true)}}
	}
	cases := map[string]struct {
		owner client.Object
		refs  []metav1.OwnerReference
		keep  bool
		x     string
		min   int32
		queue string
	}{
		"a ReplicaSet":  {&appsv1.ReplicaSet{ObjectMeta: meta}, controller("apps/v1", "ReplicaSet"), false, "y", 3, "research"},
		"a StatefulSet": {&appsv1.StatefulSet{ObjectMeta: meta}, controller("apps/v1", "StatefulSet"), false, "y", 3, "research"},
		"a DaemonSet":   {&appsv1.DaemonSet{ObjectMeta: meta}, controller("apps/v1", "DaemonSet"), false, "y", 3, "research"},
		"a Job":         {&batchv1.Job{ObjectMeta: meta}, controller("batch/v1", "Job"), false, "y", 3, "research"},
		"a Job that keeps its annotations to itself": {&batchv1.Job{ObjectMeta: meta}, controller("batch/v1", "Job"), true, "", 3, "research"},
		"a kind of others that is called Job":        {&batchv1.Job{ObjectMeta: meta}, controller("example.org/v1", "Job"), false, "", 1, "default"},
		"an owner that went, and another has its name": {
			&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: "ns", UID: "later", Annotations: said}}, controller("batch/v1", "Job"), false, "", 1, "default"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := testPod(func(p *corev1.Pod) { p.OwnerReferences = test.refs })
			c := newFake(t, pod, test.owner)
			r := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}, OwnersKeepAnnotations: test.keep})
			if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)}); err != nil {
				t.Fatal(err)
			}
			group := groupsIn(t, c)[0]
			got := []any{group.Annotations["volcano.sh/x"], group.Annotations["example.org/x"], group.Spec.MinMember, group.Spec.Queue}
			if diff := cmp.Diff([]any{test.x, "", test.min, test.queue}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if owner := group.OwnerReferences[0]; owner.UID != "owner-uid" || owner.BlockOwnerDeletion != nil {
				t.Errorf("the group's owner is %+v: nobody's deletion may wait for a group", owner)
			}
		})
	}
}
