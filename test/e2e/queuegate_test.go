package e2e

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// gatedPod returns a pod as the webhook leaves it with SchedulingGatesQueueAdmission: it requests the gate of its queue
// and has it.
func gatedPod(name, queue string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata:
  name: %s
  namespace: default
  annotations: {scheduling.volcano.sh/queue-name: %s, scheduling.volcano.sh/queue-allocation-gate: "true"}
spec:
  schedulerName: volcano
  schedulingGates: [{name: scheduling.volcano.sh/queue-allocation-gate}]
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: none:local, command: [sleep, "1000"], resources: {requests: {cpu: 1}}}]
`, name, queue)
}

func TestAPodPassesTheGateOfItsQueueWhenThereIsRoom(t *testing.T) {
	c := fourCores(t)
	c.create(queue("narrow", "capability: {cpu: 1}"))
	c.create(gatedPod("first", "narrow"))
	if p := c.podPhase("first", corev1.PodRunning, 30*time.Second); len(p.Spec.SchedulingGates) > 0 {
		t.Errorf("it runs with gates %v", p.Spec.SchedulingGates)
	}
	c.create(gatedPod("second", "narrow"))
	c.eventually(20*time.Second, "the second is held back by its gate, and no node is asked for", func() error {
		p := c.pod("second")
		for _, condition := range p.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Reason == corev1.PodReasonSchedulingGated && len(p.Spec.SchedulingGates) == 1 {
				return nil
			}
		}
		return fmt.Errorf("gates %v, conditions %+v", p.Spec.SchedulingGates, p.Status.Conditions)
	})
	c.kubectl("delete", "pod", "first")
	c.podPhase("second", corev1.PodRunning, 30*time.Second)
}
