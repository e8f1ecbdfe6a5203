package sim

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// decidedPhase is a phase that a scheduler has decided for a PodGroup.
type decidedPhase struct {
	group types.UID
	phase schedulingv1beta1.PodGroupPhase
}

// decidedBind is a node that a scheduler has chosen for a pod.
type decidedBind struct {
	pod  types.UID
	node string
}

// recordDecisions records the phases and binds that a cycle has decided.
func (c *checks) recordDecisions(d *decision.Decisions) {
	for i := range d.Binds {
		c.binds[decidedBind{d.Binds[i].Pod.UID, d.Binds[i].Node}] = true
	}
	for i := range d.Gangs {
		c.decided[decidedPhase{d.Gangs[i].Gang.UID, d.Gangs[i].Status.Phase}] = true
	}
}

// checkBindDecided checks that a pod is bound to a node that a scheduler has chosen for it, and not for an older pod with
// its name. Pods of other schedulers are not considered.
func (c *checks) checkBindDecided(pod *corev1.Pod) {
	if pod.Spec.SchedulerName == keys.DefaultSchedulerName && !c.binds[decidedBind{pod.UID, pod.Spec.NodeName}] {
		c.world.fail("pod %s is bound to node %s, but no scheduler chose this node for it", pod.Name, pod.Spec.NodeName)
	}
}

// checkPhaseOfGroup checks that a PodGroup gets only phases that a scheduler has decided for it, and not for an older
// PodGroup with its name.
func (c *checks) checkPhaseOfGroup(old, group *schedulingv1beta1.PodGroup) {
	before, after := old.Status.Phase, group.Status.Phase
	if before != after && !c.decided[decidedPhase{group.UID, after}] {
		c.world.fail("PodGroup %s is %s, but no scheduler chose this phase for it", group.Name, after)
	}
}
