package sim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/apiserver"
)

var groupKind = schedulingv1beta1.GroupVersion.WithKind("PodGroup")

// ignoresSIGTERM is an annotation of pods whose containers run until SIGKILL when they are stopped.
const ignoresSIGTERM = "sim/ignores-sigterm"

// inGroupLabel marks pods for which a user has created a PodGroup.
const inGroupLabel = "in-group"

func init() {
	registerAction("submit-lingering", 3, func(s *drawing) *action {
		queue := s.queueNames()[s.IntN(len(s.queueNames()))]
		first, second := newSimpleJob(s.newJobName(), queue, 1+s.Int32N(4), "1"), newSimpleJob(s.newJobName(), queue, 1+s.Int32N(4), "1")
		grace := []int64{20, 120, 900}[s.IntN(3)]
		template := &first.Spec.Tasks[0].Template
		template.Annotations = map[string]string{ignoresSIGTERM: "true"}
		template.Spec.TerminationGracePeriodSeconds = &grace
		pause := between(s.Rand, 3*time.Second, 30*time.Second)
		stop, text := func(w *World) { w.users.deleteJob(first.Name) }, "deleted"
		if s.IntN(2) == 0 {
			stop, text = func(w *World) { w.users.command(first.Name, busv1alpha1.AbortJobAction) }, "suspended"
		}
		return s.action(func(w *World) {
			w.users.submit(first)
			w.add(w.now.Add(pause), nil, func() {
				stop(w)
				w.users.submit(second)
			})
		}, "user submits %s, whose pods ignore SIGTERM: %s; %s later it is %s, and %s is submitted: %s",
			first.Name, describeJob(first), pause.Round(time.Second), text, second.Name, describeJob(second))
	})
	registerAction("create-podgroup", 3, func(s *drawing) *action {
		s.plain++
		name, queue := fmt.Sprintf("group-%d", s.plain), s.queueNames()[s.IntN(len(s.queueNames()))]
		size := 1 + s.IntN(4)
		created := size
		if s.IntN(3) == 0 {
			created = s.IntN(size + 1) // the others are never created
		}
		group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}}
		group.Spec.MinMember, group.Spec.Queue = int32(size), queue
		spread := between(s.Rand, 0, 20*time.Second)
		reserved := ""
		if s.IntN(2) == 0 {
			group.Spec.MinResources = &corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(size), resource.DecimalSI)}
			reserved = fmt.Sprintf(" with minResources cpu %d", size)
		}
		return s.action(func(w *World) {
			w.users.create(groupKind, group)
			for i := range created {
				pod := newPodOf(fmt.Sprintf("%s-%d", name, i), keys.DefaultSchedulerName)
				pod.Annotations, pod.Labels = map[string]string{keys.GroupName: name}, map[string]string{inGroupLabel: "true"}
				w.add(w.now.Add(spread*time.Duration(i)), nil, func() { w.users.create(podKind, pod) })
			}
		}, "user creates PodGroup %s%s in queue %s for %d pods of cpu 1, and %d of them, one each %s", name, reserved, queue, size, created, spread.Round(time.Second))
	})
	registerAction("create-foreign-pods", 2, func(s *drawing) *action {
		s.plain++
		name, count := fmt.Sprintf("foreign-%d", s.plain), 1+s.IntN(3)
		return s.action(func(w *World) { w.createForeignPods(name, count) }, "user creates %d pods %s of cpu 1 for another scheduler", count, name)
	})
}

// createForeignPods creates pods of cpu 1 for another scheduler.
func (w *World) createForeignPods(name string, count int) {
	for i := range count {
		pod := newPodOf(fmt.Sprintf("%s-%d", name, i), otherScheduler)
		w.users.create(podKind, pod)
		w.scheduleForeignPod(pod.Name)
	}
}

// create creates an object.
func (u *users) create(kind schema.GroupVersionKind, object client.Object) {
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Create, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), Object: object.DeepCopyObject().(client.Object)})
}

// newPodOf returns a pod of cpu 1 for a scheduler.
func newPodOf(name, scheduler string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}, Spec: newPodSpec("1")}
	pod.Spec.SchedulerName = scheduler
	return pod
}

// otherScheduler is the name of a scheduler that shares the nodes.
const otherScheduler = "default-scheduler"

// foreignRetry is the pause after which the other scheduler tries again to place a pod.
const foreignRetry = 3 * time.Second

// scheduleForeignPod plays the part of another scheduler for one pod. It sees the current state of the API server, so it
// never exceeds a node by itself.
func (w *World) scheduleForeignPod(name string) {
	w.add(w.now.Add(between(w.randomFor("other scheduler for "+name), time.Millisecond, time.Second)), nil, func() {
		pod := w.pod(userNamespace, name)
		if pod == nil || pod.Spec.NodeName != "" {
			return
		}
		if node := w.freeNode(milliCPU(pod)); node != "" && !w.serverDown {
			bound := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: name, UID: pod.UID}, Target: corev1.ObjectReference{Kind: "Node", Name: node}}
			r := &apiserver.Request{User: otherScheduler, Verb: apiserver.Create, Subresource: "binding", Kind: podKind, Namespace: pod.Namespace, Name: name, Object: bound}
			_, err := w.do(r)
			w.trace("%s: %s to %s: %s", r.User, r, node, describeError(err))
			if err == nil {
				return
			}
		}
		w.add(w.now.Add(foreignRetry), nil, func() { w.scheduleForeignPod(name) })
	})
}

// freeNode returns the first ready node with this much free CPU, or "".
func (w *World) freeNode(milliCPU int64) string {
	for _, k := range w.kubelets {
		node := w.state.nodes[k.node]
		if node == nil || node.Spec.Unschedulable || len(node.Spec.Taints) > 0 {
			continue
		}
		if w.requestedOn(k.node)+milliCPU <= node.Status.Allocatable.Cpu().MilliValue() {
			return k.node
		}
	}
	return ""
}
