package sim

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
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

// checkNextSteps checks, at rest, that each step of a flow has a job or has ended if the steps that it depends on have
// completed. A flow with a failed job starts no further steps.
func (w *World) checkNextSteps() {
	for _, o := range w.objectsAt(flowKind, len(w.changes[flowKind])) {
		flow := o.(*flowv1alpha1.JobFlow)
		phases := w.phasesOfSteps(flow)
		hasFailed := slices.ContainsFunc(slices.Collect(maps.Values(phases)), isFailedPhase)
		for i := range flow.Spec.Flows {
			step := &flow.Spec.Flows[i]
			_, hasStarted := phases[step.Name]
			mayStart := !hasFailed && isNext(step, phases) && w.couldCreateStep(flow, step)
			if mayStart && !hasStarted {
				w.fail("step %s of flow %s has not started, although all steps that it depends on have completed", step.Name, flow.Name)
			}
		}
	}
}

func isFailedPhase(phase batchv1alpha1.JobPhase) bool {
	return phase == batchv1alpha1.Failed || phase == batchv1alpha1.Terminated
}

// phasesOfSteps returns the phase of the job of each step that has started. The status of the flow contains the phases of
// jobs that have ended and were deleted.
func (w *World) phasesOfSteps(flow *flowv1alpha1.JobFlow) map[string]batchv1alpha1.JobPhase {
	phases := map[string]batchv1alpha1.JobPhase{}
	for i := range flow.Spec.Flows {
		name := flow.Name + "-" + flow.Spec.Flows[i].Name
		for j := range flow.Status.JobStatusList {
			if s := &flow.Status.JobStatusList[j]; s.Name == name && slices.Contains(finalPhases, s.State) {
				phases[flow.Spec.Flows[i].Name] = s.State
			}
		}
		if job := w.jobNamed(flow.Namespace, name); job != nil && metav1.IsControlledBy(job, flow) {
			phases[flow.Spec.Flows[i].Name] = job.Status.State.Phase
		}
	}
	return phases
}

// isNext reports whether all steps that a step depends on have completed.
func isNext(step *flowv1alpha1.Flow, phases map[string]batchv1alpha1.JobPhase) bool {
	if step.DependsOn == nil {
		return true
	}
	hasProbe := step.DependsOn.Probe != nil // it may start earlier
	return !hasProbe && !slices.ContainsFunc(step.DependsOn.Targets, func(target string) bool { return phases[target] != batchv1alpha1.Completed })
}

// couldCreateStep reports whether nothing prevents that the job of a step is created: its template exists, its queue is
// open, and no other job has its name.
func (w *World) couldCreateStep(flow *flowv1alpha1.JobFlow, step *flowv1alpha1.Flow) bool {
	if flow.DeletionTimestamp != nil || w.jobNamed(flow.Namespace, flow.Name+"-"+step.Name) != nil {
		return false
	}
	for _, o := range w.objectsAt(templateKind, len(w.changes[templateKind])) {
		if o.GetNamespace() == flow.Namespace && o.GetName() == step.Name {
			return w.isOpen(cmp.Or(o.(*flowv1alpha1.JobTemplate).Spec.Queue, keys.DefaultQueue))
		}
	}
	return false
}
