package sim

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxForeignBindDelay is how long a scheduler may not know that another scheduler has bound a pod. It is longer than any lag of a
// watch, and than the time for which a scheduler that has no connection may still send writes afterwards.
const maxForeignBindDelay = time.Minute

// checkNodeFits checks that the bind of a pod does not over-commit its node. Another scheduler, or a late request of a former
// leader, may have bound a pod to the node at about the same time; the kubelet then rejects one of them.
func (c *checks) checkNodeFits(pod *corev1.Pod) {
	node := c.world.state.nodes[pod.Spec.NodeName]
	if node == nil || c.world.fitsOnNode(node.Name) || c.fittedBefore(node.Name) {
		return
	}
	if at, known := c.foreignBinds[node.Name]; known && c.world.now.Sub(at) < maxForeignBindDelay {
		return
	}
	c.world.fail("node %s is over-committed by the bind of pod %s", node.Name, pod.Name)
}

// recordForeignBind records when another scheduler, or a late bind, has assigned a pod to a node.
func (c *checks) recordForeignBind(pod *corev1.Pod) {
	if pod.Spec.SchedulerName == otherScheduler || c.lateCreates[describeObject(podKind, pod.Namespace, pod.Name)] {
		c.foreignBinds[pod.Spec.NodeName] = c.world.now
	}
}
