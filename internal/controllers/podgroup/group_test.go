package podgroup

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func testPod(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "pod-uid", Annotations: map[string]string{}, Labels: map[string]string{}},
		Spec: corev1.PodSpec{SchedulerName: "volcano", PriorityClassName: "high", Containers: []corev1.Container{{Name: "c", Image: "i",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}}},
	}
	if change != nil {
		change(pod)
	}
	return pod
}

func ownedBy(kind string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		yes := true
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: "owner", UID: "owner-uid", Controller: &yes}}
	}
}

func TestAPlainPodGetsAGroupOfItsOwn(t *testing.T) {
	t.Parallel()
	pod := testPod(nil)
	group := groupFor(pod, nil)
	if group.Name != "podgroup-pod-uid" || !metav1.IsControlledBy(group, pod) {
		t.Errorf("group %s of %v", group.Name, group.OwnerReferences)
	}
	one, two := resource.MustParse("1"), resource.MustParse("2")
	want := schedulingv1beta1.PodGroupSpec{MinMember: 1, Queue: "default", PriorityClassName: "high", MinResources: &corev1.ResourceList{
		"cpu": two, "requests.cpu": two, "pods": one, "count/pods": one,
	}}
	if diff := cmp.Diff(want, group.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if group.Status.Phase != schedulingv1beta1.PodGroupPending {
		t.Errorf("phase %s", group.Status.Phase)
	}
}

func TestPodsOfOneOwnerShareAGroup(t *testing.T) {
	t.Parallel()
	pod := testPod(ownedBy("ReplicaSet"))
	group := groupFor(pod, map[string]string{keys.GroupMinMember: "3", "volcano.sh/x": "y", "else": "z", keys.PodQueueName: "q"})
	if group.Name != "podgroup-owner-uid" || group.OwnerReferences[0].UID != "owner-uid" {
		t.Errorf("group %s of %v", group.Name, group.OwnerReferences)
	}
	cpu := (*group.Spec.MinResources)[corev1.ResourceCPU]
	if group.Spec.MinMember != 3 || cpu.String() != "6" || group.Spec.Queue != "q" {
		t.Errorf("spec %+v", group.Spec)
	}
	if diff := cmp.Diff(map[string]string{"volcano.sh/x": "y", keys.TakenOver: "volcano.sh/x"}, group.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestAnnotationsOfThePodSpeakForTheGroup(t *testing.T) {
	t.Parallel()
	tier := 2
	tests := map[string]struct {
		annotations map[string]string
		want        func(*schedulingv1beta1.PodGroup) any
		is          any
	}{
		"the queue":      {map[string]string{keys.PodQueueName: "q"}, func(g *schedulingv1beta1.PodGroup) any { return g.Spec.Queue }, "q"},
		"may be evicted": {map[string]string{keys.Preemptable: "true"}, func(g *schedulingv1beta1.PodGroup) any { return g.Annotations[keys.Preemptable] }, "true"},
		"one of two budgets": {map[string]string{keys.JDBMinAvailable: "1", keys.JDBMaxUnavailable: "2"},
			func(g *schedulingv1beta1.PodGroup) any { return g.Annotations[keys.TakenOver] }, keys.JDBMinAvailable},
		"a tier alone is hard": {map[string]string{keys.NetworkTopologyTier: "2"}, func(g *schedulingv1beta1.PodGroup) any { return g.Spec.NetworkTopology },
			&schedulingv1beta1.NetworkTopologySpec{Mode: "hard", HighestTierAllowed: &tier}},
		"soft in any case": {map[string]string{keys.NetworkTopologyMode: "Soft"}, func(g *schedulingv1beta1.PodGroup) any { return g.Spec.NetworkTopology },
			&schedulingv1beta1.NetworkTopologySpec{Mode: "soft"}},
		"nonsense is hard": {map[string]string{keys.NetworkTopologyMode: "rubber", keys.NetworkTopologyTier: "x"},
			func(g *schedulingv1beta1.PodGroup) any { return g.Spec.NetworkTopology }, &schedulingv1beta1.NetworkTopologySpec{Mode: "hard"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			group := groupFor(testPod(func(p *corev1.Pod) { p.Annotations = test.annotations }), nil)
			if diff := cmp.Diff(test.is, test.want(group)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMinMemberIsANumberOrOne(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int32{"": 1, "x": 1, "-1": 1, "0": 0, "7": 7} {
		if got := minMember(nil, map[string]string{keys.GroupMinMember: text}); got != want {
			t.Errorf("%q gives %d, want %d", text, got, want)
		}
	}
}

// FuzzAnnotations verifies that the API accepts the group for any annotations of a pod.
func FuzzAnnotations(f *testing.F) {
	f.Add("hard", "1", "3")
	f.Add("SOFT", "-1", "-3")
	f.Add("", "99999999999999999999", "1e3")
	f.Add("x", "4294967296", "")
	f.Fuzz(func(t *testing.T, mode, tier, least string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "u", Annotations: map[string]string{
			keys.NetworkTopologyMode: mode, keys.NetworkTopologyTier: tier, keys.GroupMinMember: least,
		}}}
		group := groupFor(p, nil)
		if group.Spec.MinMember < 0 {
			t.Errorf("minMember %q becomes %d", least, group.Spec.MinMember)
		}
		topology := group.Spec.NetworkTopology
		if topology == nil {
			t.Fatal("a mode was given, and there is no topology")
		}
		if topology.Mode != schedulingv1beta1.HardNetworkTopologyMode && topology.Mode != schedulingv1beta1.SoftNetworkTopologyMode {
			t.Errorf("mode %q becomes %q", mode, topology.Mode)
		}
		if n := topology.HighestTierAllowed; n != nil && (*n < 0 || *n > math.MaxInt32) {
			t.Errorf("tier %q becomes %d", tier, *n)
		}
	})
}
