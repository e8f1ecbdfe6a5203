package podgroup

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api/keys"
)

// TestARollingUpdateOfADeploymentIsNotHeldUpByItsMinimum verifies that the minimum of the new ReplicaSet's group grows
// with its pods, up to the requested minimum.
func TestARollingUpdateOfADeploymentIsNotHeldUpByItsMinimum(t *testing.T) {
	t.Parallel()
	for name, saysSo := range map[string]func(*corev1.Pod){
		"the Deployment says how many have to start together": func(*corev1.Pod) {},
		"its pods say it": func(p *corev1.Pod) { p.Annotations[keys.GroupMinMember] = "4" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := replicaSet(1)
			set.Annotations = map[string]string{desiredReplicas: "4"}
			pod := testPod(ownedBy("ReplicaSet"))
			saysSo(pod)
			if pod.Annotations[keys.GroupMinMember] == "" {
				set.Annotations[keys.GroupMinMember] = "4"
			}
			c := newFake(t, pod, set)
			w := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}}).replicaSetWorkload()
			for _, step := range []struct{ replicas, minimum int32 }{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {3, 3}} {
				set.Spec.Replicas = &step.replicas
				if err := c.Update(context.Background(), set); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(set)}); err != nil {
					t.Fatal(err)
				}
				groups := groupsIn(t, c)
				if len(groups) != 1 || groups[0].Spec.MinMember != step.minimum {
					t.Fatalf("with %d of 4 replicas the groups are %+v, want a minimum of %d", step.replicas, groups, step.minimum)
				}
				cpu := groups[0].Spec.MinResources.Cpu()
				if want := pod.Spec.Containers[0].Resources.Requests.Cpu().MilliValue() * int64(step.minimum); cpu.MilliValue() != want {
					t.Errorf("with %d of 4 replicas the group asks for %s of cpu, want %dm", step.replicas, cpu, want)
				}
			}
		})
	}
}

func TestAMinimumHoldsWhereNothingIsRolledOut(t *testing.T) {
	t.Parallel()
	for name, desired := range map[string]string{
		"nobody is above the ReplicaSet": "", "it has all that its Deployment wants": "1", "the annotation cannot be read": "all",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := replicaSet(1)
			if desired != "" {
				set.Annotations[desiredReplicas] = desired
			}
			c := newFake(t, testPod(ownedBy("ReplicaSet")), set)
			w := New(Options{Cache: c, API: c, Schedulers: []string{"volcano"}}).replicaSetWorkload()
			if _, err := w.Reconcile(context.Background(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(set)}); err != nil {
				t.Fatal(err)
			}
			if groups := groupsIn(t, c); len(groups) != 1 || groups[0].Spec.MinMember != 2 {
				t.Errorf("groups %+v, want a minimum of 2", groups)
			}
		})
	}
}
