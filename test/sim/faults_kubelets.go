package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("late-pod-statuses", 2, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 3*time.Minute)
		return s.action(func(w *World) {
			if k := w.kubelet(node); k != nil {
				k.mutedUntil = w.now.Add(length)
			}
		}, "for %s, the statuses of pods from %s arrive late", length.Round(time.Second), node)
	}))
	registerAction("disconnect-node", 3, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 3*time.Minute)
		return s.action(func(w *World) {
			w.disconnectNode(node, length)
			w.add(w.now.Add(length), nil, func() { w.reconnectNode(node) })
		}, "%s is disconnected for %s, while its pods run on", node, length.Round(time.Second))
	}))
	registerAction("containers-do-not-start", 2, onNode(func(s *drawing, node string) *action {
		length := between(s.Rand, 5*time.Second, 3*time.Minute)
		reason := []string{"ImagePullBackOff", "CreateContainerError"}[s.IntN(2)]
		return s.action(func(w *World) {
			if k := w.kubelet(node); k != nil {
				k.brokenUntil, k.brokenReason = w.now.Add(length), reason
			}
		}, "for %s, no containers start on %s (%s)", length.Round(time.Second), node, reason)
	}))
	registerAction("out-of-memory", 2, onNode(func(s *drawing, node string) *action {
		return s.action(func(w *World) {
			if k := w.kubelet(node); k != nil {
				k.killContainers()
			}
		}, "all containers on %s run out of memory", node)
	}))
	registerAction("shrink-node", 2, onNode(func(s *drawing, node string) *action {
		length, share := between(s.Rand, 5*time.Second, 3*time.Minute), 0.25*float64(s.IntN(4))
		return s.action(func(w *World) {
			w.shrinkNode(node, share)
			w.add(w.now.Add(length), nil, func() { w.restoreNode(node) })
		}, "for %s, %s has %.0f %% of its capacity", length.Round(time.Second), node, share*100)
	}))
	expectCoverage("late status", 2)
	expectCoverage("disconnected node", 1)
	expectCoverage("deleted pod on a node that returns", 1)
	expectCoverage("container that does not start", 2)
	expectCoverage("containers out of memory", 1)
	expectCoverage("node with less capacity", 2)
}

// isSilent reports whether the node sends no heartbeats.
func (k *kubelet) isSilent() bool { return k.process == nil || k.disconnected }

// disconnectNode cuts the connection of a kubelet. Its containers run on.
func (w *World) disconnectNode(name string, length time.Duration) {
	k := w.kubelet(name)
	if k == nil || k.isSilent() {
		return
	}
	w.trace("node %s is disconnected", name)
	w.cover("disconnected node", "node")
	k.disconnected, k.mutedUntil = true, w.now.Add(length)
	w.superviseNode(k)
}

// reconnectNode ends the fault of disconnectNode. The kubelet stops pods that were deleted meanwhile.
func (w *World) reconnectNode(name string) {
	k := w.kubelet(name)
	if k == nil || !k.disconnected {
		return
	}
	k.disconnected = false
	if k.process == nil {
		return // it was lost meanwhile
	}
	w.trace("node %s is connected again", name)
	for _, pod := range w.pods() {
		if pod.Spec.NodeName != name {
			continue
		}
		if life := k.lives[pod.UID]; pod.DeletionTimestamp != nil && life != nil && life.stage == running {
			w.cover("deleted pod on a node that returns", "kubelet: running pod")
		}
		k.look(pod)
	}
	w.setNodeReady(name, corev1.ConditionTrue)
}

// reportStartFailure writes the status of a pod whose containers cannot start now, and tries again later.
func (k *kubelet) reportStartFailure(pod *corev1.Pod, life *podLife) {
	now, reason := metav1.NewTime(k.world.now), k.brokenReason
	k.world.cover("container that does not start", reason)
	k.writeStatus(pod, func(s *corev1.PodStatus) {
		if s.StartTime == nil {
			s.StartTime = &now
		}
		s.ContainerStatuses = containerStatuses(pod, func(c *corev1.ContainerStatus) {
			c.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason}
		})
	})
	pause := max(time.Second, k.brokenUntil.Sub(k.world.now))
	k.process.after(pause, func() { k.startContainers(pod.Namespace, pod.Name, pod.UID, life) })
}

// killContainers ends all containers of the node, because it has run out of memory.
func (k *kubelet) killContainers() {
	if k.process == nil {
		return
	}
	for _, pod := range k.world.pods() {
		life := k.lives[pod.UID]
		if pod.Spec.NodeName != k.node || life == nil {
			continue
		}
		if life.stage != running || life.stopping {
			continue
		}
		k.world.cover("containers out of memory", "restart policy "+string(pod.Spec.RestartPolicy))
		life.behavior.exitCode, life.behavior.outOfMem = 137, true
		k.endRun(pod.Namespace, pod.Name, pod.UID, life)
	}
}

// shrinkNode reduces the allocatable CPU of a node to a share of its capacity.
func (w *World) shrinkNode(name string, share float64) {
	node := w.state.nodes[name]
	if node == nil {
		return
	}
	before := node.Status.Allocatable.Cpu().MilliValue()
	w.checks.shrunk[name] = shrunkNode{at: w.now, milliCPU: max(before, w.checks.shrunk[name].milliCPU)}
	w.setAllocatable(name, int64(share*float64(node.Status.Capacity.Cpu().MilliValue())))
	if node = w.state.nodes[name]; node.Status.Allocatable.Cpu().MilliValue() < before {
		step := "free capacity"
		if w.requestedOn(name) > node.Status.Allocatable.Cpu().MilliValue() {
			step = "capacity that pods use"
		}
		w.cover("node with less capacity", step)
	}
}

// restoreNode ends the fault of shrinkNode, as soon as the API server accepts the change.
func (w *World) restoreNode(name string) {
	node := w.state.nodes[name]
	if node == nil {
		return
	}
	capacity := node.Status.Capacity.Cpu()
	if node.Status.Allocatable.Cpu().Cmp(*capacity) == 0 {
		return
	}
	w.setAllocatable(name, capacity.MilliValue())
	w.add(w.now.Add(kubeletRetry), nil, func() { w.restoreNode(name) })
}

func (w *World) setAllocatable(name string, milliCPU int64) {
	update := w.state.nodes[name].DeepCopy()
	update.Status.Allocatable = update.Status.Allocatable.DeepCopy()
	update.Status.Allocatable[corev1.ResourceCPU] = *resource.NewMilliQuantity(milliCPU, resource.DecimalSI)
	w.manager.do(&apiserver.Request{Verb: apiserver.Update, Kind: nodeKind, Subresource: "status", Name: name, Object: update})
}
