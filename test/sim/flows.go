package sim

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// checkFlows checks, at rest, that a flow has succeeded exactly if all its jobs have completed.
func (w *World) checkFlows() {
	for _, o := range w.objectsAt(flowKind, len(w.changes[flowKind])) {
		flow := o.(*flowv1alpha1.JobFlow)
		completed := 0
		for _, job := range w.state.jobs {
			if metav1.IsControlledBy(job, flow) && job.Status.State.Phase == batchv1alpha1.Completed {
				completed++
			}
		}
		succeeded := flow.Status.State.Phase == flowv1alpha1.Succeed
		if succeeded != (completed == len(flow.Spec.Flows)) {
			w.fail("flow %s is %s, and %d of its %d jobs are completed", flow.Name, flow.Status.State.Phase, completed, len(flow.Spec.Flows))
		}
	}
}

// hasUnfinishedFlow reports whether a flow may still create jobs.
func (w *World) hasUnfinishedFlow() bool {
	return slices.ContainsFunc(w.objectsAt(flowKind, len(w.changes[flowKind])), func(o client.Object) bool {
		phase := o.(*flowv1alpha1.JobFlow).Status.State.Phase
		return phase != flowv1alpha1.Succeed && phase != flowv1alpha1.Failed
	})
}
