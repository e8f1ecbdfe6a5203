package sim

import (
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// loweredQueue is a queue whose capability was lowered.
type loweredQueue struct {
	at       time.Time
	milliCPU int64 // before
}

// maxQueueChangeDelay is the time after which the leading scheduler knows that a capability was lowered, and its earlier
// binds have been carried out.
const maxQueueChangeDelay = maxNodeChangeDelay

// recordCapability records that the capability of a queue was lowered.
func (c *checks) recordCapability(old, queue *schedulingv1beta1.Queue) {
	before, after := capabilityOf(old), capabilityOf(queue)
	if after < before {
		c.lowered[queue.Name] = loweredQueue{at: c.world.now, milliCPU: max(before, c.earlierCapability(queue.Name))}
	}
}

// capabilityOf returns the CPU, in thousandths, that the pods of a queue may hold.
func capabilityOf(queue *schedulingv1beta1.Queue) int64 {
	capability, limited := queue.Spec.Capability[corev1.ResourceCPU]
	if !limited {
		return math.MaxInt64
	}
	return capability.MilliValue()
}

// earlierCapability returns the highest capability that the scheduler may still take for the current one, or 0.
func (c *checks) earlierCapability(queue string) int64 {
	lowered, ok := c.lowered[queue]
	if !ok || c.world.now.Sub(lowered.at) > maxQueueChangeDelay {
		return 0
	}
	return lowered.milliCPU
}

// checkCapability checks that the pods of a queue, and of its ancestors, do not exceed the capability after a bind. Pods
// hold their request until they have ended, also while they are being deleted. If the capability was lowered below what the
// pods hold, no pod may be bound until enough of them have ended.
func (c *checks) checkCapability(pod *corev1.Pod) {
	for name := c.queueOf(pod); name != "" && name != keys.RootQueue; name = c.world.parentOf(name) {
		queue := c.world.state.queues[name]
		if queue == nil {
			return
		}
		if sum := c.heldBy(name); sum > max(capabilityOf(queue), c.earlierCapability(name)) {
			c.world.fail("queue %s has a capability of cpu %dm, but its pods hold %dm after the bind of pod %s", name, capabilityOf(queue), sum, pod.Name)
		}
	}
}
