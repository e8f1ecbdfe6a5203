package podgroup

import (
	"context"
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
	scheduling "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/seeds"
)

// TestWhateverHappensEveryLivePodHasItsGroup plays pods and ReplicaSets that come, go and are scaled, under caches that
// lag, events that are late, and a vcd that dies between any two writes. In the end every live pod of ours has its
// group as its owner wants it, workloads of nothing have none, and nobody else's pods were touched.
func TestWhateverHappensEveryLivePodHasItsGroup(t *testing.T) {
	seeds.Check(t, 10_000, func(t *rapid.T) {
		w := newWorld(t)
		choose := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "which") }
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			w.step(choose)
		}
		w.settle()
		w.check()
	})
}

// step lets one thing happen.
func (w *world) step(choose func(int) int) {
	names := []string{"a", "b"}
	set, haveSet := w.api["*v1.ReplicaSet/ns/"+names[choose(2)]].(*appsv1.ReplicaSet)
	switch what := choose(20); {
	case what == 0: // a ReplicaSet comes
		fresh := replicaSet(int32(choose(3)))
		fresh.UID, fresh.Name = "", names[choose(2)]
		if _, there := w.api[keyOf(fresh)]; !there {
			w.put(fresh)
		}
	case what == 1 && haveSet: // is scaled
		changed := set.DeepCopy()
		changed.Spec.Replicas = new(int32(choose(3)))
		w.put(changed)
	case what == 2 && haveSet: // says something else
		changed := set.DeepCopy()
		changed.Annotations = map[string]string{keys.GroupMinMember: fmt.Sprint(1 + choose(3)), "volcano.sh/x": fmt.Sprint(choose(2))}
		w.put(changed)
	case what == 3 && haveSet && choose(3) == 0: // goes
		w.remove(keyOf(set))
		w.collect()
	case what == 4 && haveSet:
		w.scale(set)
	case what == 5: // a plain pod comes, ours or not
		pod := testPod(func(p *corev1.Pod) {
			p.UID, p.Name = "", fmt.Sprintf("plain-%d", choose(3))
			p.Spec.SchedulerName = []string{"volcano", "default-scheduler"}[choose(2)]
		})
		if _, there := w.api[keyOf(pod)]; !there {
			w.put(pod)
		}
	case what == 6: // a pod goes for good, or a group by somebody's hand
		if all := w.keys(w.api); len(all) > 0 {
			switch o := w.api[all[choose(len(all))]].(type) {
			case *corev1.Pod, *scheduling.PodGroup:
				w.remove(keyOf(o))
				w.collect()
			}
		}
	case what == 7: // vcd will die at a write
		w.failAt, w.failDone = 1+choose(3), choose(2) == 0
	case what == 8 && choose(4) == 0:
		w.restart()
	case what <= 13:
		w.turn(choose)
	default: // a cache hears of something
		if late := slices.Sorted(maps.Keys(w.late)); len(late) > 0 {
			w.deliver(late[choose(len(late))])
		}
	}
}

// settle lets everything be heard and done.
func (w *world) settle() {
	w.failAt = 0
	first := func(int) int { return 0 }
	for range 500 {
		busy := len(w.pods)+len(w.sets)+len(w.late) > 0
		for _, key := range w.keys(w.api) {
			switch o := w.api[key].(type) {
			case *appsv1.ReplicaSet:
				busy = w.scale(o) || busy
			case *corev1.Pod:
				if o.DeletionTimestamp != nil {
					w.remove(key)
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
	for _, key := range w.keys(w.api) {
		pod, ok := w.api[key].(*corev1.Pod)
		switch {
		case !ok:
		case pod.Spec.SchedulerName != "volcano":
			if len(pod.Annotations) > 0 {
				w.t.Errorf("pod %s is not ours and was changed: %v", pod.Name, pod.Annotations)
			}
		default:
			w.checkPod(pod, groups)
		}
	}
	for _, key := range w.keys(w.api) {
		if group, ok := w.api[key].(*scheduling.PodGroup); ok && !groups[group.Name] {
			w.t.Errorf("group %s is nobody's", group.Name)
		}
	}
}

// checkPod wants the group of a pod to be there, as its owner wants it.
func (w *world) checkPod(pod *corev1.Pod, groups map[string]bool) {
	name := pod.Annotations[keys.GroupName]
	groups[name] = true
	group, ok := w.api[keyOf(&scheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})].(*scheduling.PodGroup)
	if name != nameOf(pod) || !ok {
		w.t.Errorf("pod %s is in group %q, which is there: %v", pod.Name, name, ok)
		return
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return
	}
	var set appsv1.ReplicaSet
	if err := (writer{w: w}).Get(context.Background(), client.ObjectKey{Namespace: "ns", Name: owner.Name}, &set); err != nil {
		w.t.Fatalf("owner of %s: %v", pod.Name, err)
	}
	if fmt.Sprint(group.Spec.MinMember) != set.Annotations[keys.GroupMinMember] || group.Annotations["volcano.sh/x"] != set.Annotations["volcano.sh/x"] {
		w.t.Errorf("group %s has minMember %d and %v, its owner says %v", name, group.Spec.MinMember, group.Annotations, set.Annotations)
	}
}
