package podgroup

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
	"github.com/vc-batch/vc/test/propertytest"
)

// TestWhateverHappensEveryLivePodHasItsGroup simulates pods and ReplicaSets that are created, deleted and scaled, with
// outdated caches, late events, and a vcd that crashes between any two writes. In the end every live pod must have the
// group that its owner requires, workloads scaled to zero must have none, and pods of other schedulers must be
// unchanged.
func TestWhateverHappensEveryLivePodHasItsGroup(t *testing.T) {
	propertytest.Check(t, 10_000, func(t *rapid.T) {
		w := newWorld(t)
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			w.step(choose)
		}
		w.settle()
		w.check()
	})
}

// step makes one random change.
func (w *world) step(choose func(int) int) {
	names := []string{"a", "b"}
	set := apiserver.Find[*appsv1.ReplicaSet](w.server, "ns", names[choose(2)])
	switch what := choose(20); {
	case what == 0: // create a ReplicaSet
		fresh := replicaSet(int32(choose(3)))
		fresh.Name = names[choose(2)]
		if apiserver.Find[*appsv1.ReplicaSet](w.server, "ns", fresh.Name) == nil {
			w.server.Save(fresh)
		}
	case what == 1 && set != nil: // scale it
		changed := set.DeepCopy()
		changed.Spec.Replicas = new(int32(choose(3)))
		w.server.Save(changed)
	case what == 2 && set != nil: // change its annotations
		changed := set.DeepCopy()
		changed.Annotations = map[string]string{keys.GroupMinMember: fmt.Sprint(1 + choose(3)), "volcano.sh/x": fmt.Sprint(choose(2))}
		w.server.Save(changed)
	case what == 3 && set != nil && choose(3) == 0: // delete it
		w.server.Remove(set)
		w.collect()
	case what == 4 && set != nil:
		w.scale(set)
	case what == 5: // create a plain pod, with this or another scheduler
		pod := testPod(func(p *corev1.Pod) {
			p.Name = fmt.Sprintf("plain-%d", choose(3))
			p.Spec.SchedulerName = []string{"volcano", "default-scheduler"}[choose(2)]
		})
		if apiserver.Find[*corev1.Pod](w.server, "ns", pod.Name) == nil {
			w.server.Save(pod)
		}
	case what == 6: // delete a pod, or a group on behalf of a user
		if all := w.objects(); len(all) > 0 {
			switch o := all[choose(len(all))].(type) {
			case *corev1.Pod, *schedulingv1beta1.PodGroup:
				w.server.Remove(o.(client.Object))
				w.collect()
			}
		}
	case what == 7: // vcd will crash at a write
		w.api.WritesLeft, w.api.LoseLastResponse = 1+choose(3), choose(2) == 0
	case what == 8 && choose(4) == 0:
		w.restart()
	case what <= 13:
		w.turn(choose)
	default: // deliver a change to a cache
		if late := slices.Sorted(maps.Keys(w.late)); len(late) > 0 {
			w.deliver(late[choose(len(late))])
		}
	}
}

// settle delivers all changes and reconciles until nothing changes.
func (w *world) settle() {
	w.api.WritesLeft = -1
	first := func(int) int { return 0 }
	for range 500 {
		busy := len(w.pods)+len(w.sets)+len(w.late) > 0
		for _, o := range w.objects() {
			switch o := o.(type) {
			case *appsv1.ReplicaSet:
				busy = w.scale(o) || busy
			case *corev1.Pod:
				if o.DeletionTimestamp != nil {
					w.server.Remove(o)
				}
			}
		}
		w.collect()
		for _, key := range slices.Sorted(maps.Keys(w.late)) {
			w.deliver(key)
		}
		w.turn(first)
		if !busy {
			return
		}
	}
	w.t.Fatalf("it never ends: pods %v, sets %v", w.pods, w.sets)
}

func (w *world) check() {
	groups := map[string]bool{}
	for _, pod := range apiserver.All[*corev1.Pod](w.server) {
		switch {
		case pod.Spec.SchedulerName != "volcano":
			if len(pod.Annotations) > 0 {
				w.t.Errorf("pod %s is not ours and was changed: %v", pod.Name, pod.Annotations)
			}
		default:
			w.checkPod(pod, groups)
		}
	}
	for _, group := range apiserver.All[*schedulingv1beta1.PodGroup](w.server) {
		if !groups[group.Name] {
			w.t.Errorf("group %s is nobody's", group.Name)
		}
	}
	if err := w.server.CheckUnmodified(); err != nil {
		w.t.Error(err)
	}
}

// checkPod checks that the group of a pod exists and is as its owner requires.
func (w *world) checkPod(pod *corev1.Pod, groups map[string]bool) {
	name := pod.Annotations[keys.GroupName]
	groups[name] = true
	group := apiserver.Find[*schedulingv1beta1.PodGroup](w.server, "ns", name)
	if name != nameOf(pod) || group == nil {
		w.t.Errorf("pod %s is in group %q, which is there: %v", pod.Name, name, group != nil)
		return
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return
	}
	set := apiserver.Find[*appsv1.ReplicaSet](w.server, "ns", owner.Name)
	if set == nil {
		w.t.Fatalf("the owner of %s does not exist", pod.Name)
	}
	if fmt.Sprint(group.Spec.MinMember) != set.Annotations[keys.GroupMinMember] || group.Annotations["volcano.sh/x"] != set.Annotations["volcano.sh/x"] {
		w.t.Errorf("group %s has minMember %d and %v, its owner says %v", name, group.Spec.MinMember, group.Annotations, set.Annotations)
	}
}
