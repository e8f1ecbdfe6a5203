package sim

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// checkOutcome checks that a job runs only when enough of its pods have started, that a running job completes only when
// enough of them have succeeded, and that a resumed job runs again. A status is written with the version of the job that
// it was computed from, so it agrees with the spec.
func (c *checks) checkOutcome(old, job *batchv1alpha1.Job) {
	before, after := &old.Status.State, &job.Status
	if before.Phase == after.State.Phase {
		return
	}
	isStarted := isActivePhase(before.Phase) && after.State.Phase == batchv1alpha1.Running
	isCompleted := before.Phase == batchv1alpha1.Running && after.State.Phase == batchv1alpha1.Completed
	isResumed := before.Phase == batchv1alpha1.Restarting && before.Reason == string(busv1alpha1.ResumeJobAction)
	started := after.Running + after.Succeeded + after.Failed
	if want := min(job.Spec.MinAvailable, totalReplicas(job)); isStarted && started < want {
		c.world.fail("job %s is running, but only %d of its pods have started instead of %d", job.Name, started, want)
	}
	if isResumed && after.State.Phase == batchv1alpha1.Failed {
		c.world.fail("job %s was resumed, but has failed without running again: %s", job.Name, after.State.Message)
	}
	if !isCompleted {
		return
	}
	if want := ptr.Deref(job.Spec.MinSuccess, job.Spec.MinAvailable); after.Succeeded < want {
		c.world.fail("job %s is completed, but only %d of its pods have succeeded instead of %d", job.Name, after.Succeeded, want)
	}
}

func countReplicas(job *batchv1alpha1.Job) int32 {
	var n int32
	for i := range job.Spec.Tasks {
		n += job.Spec.Tasks[i].Replicas
	}
	return n
}

// taskOf identifies a task of a job.
type taskOf struct {
	job  string // namespace and name
	task string
}

// recordStarted records that a pod of a task has started.
func (c *checks) recordStarted(pod *corev1.Pod) {
	hasStarted := pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodSucceeded
	if task, _, _, ok := plan.ParsePodIdentity(pod); ok && hasStarted {
		c.started[taskOf{jobOf(pod), task}] = true
	}
}

func jobOf(pod *corev1.Pod) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return pod.Namespace + "/" + owner.Name
	}
	return ""
}

// checkDependencies checks that the pods of a task are created only after the tasks that it depends on have started.
func (c *checks) checkDependencies(pod *corev1.Pod) {
	name, _, _, ok := plan.ParsePodIdentity(pod)
	owner := metav1.GetControllerOf(pod)
	if !ok || owner == nil {
		return
	}
	job := c.world.jobNamed(pod.Namespace, owner.Name)
	if job == nil || job.UID != owner.UID {
		return
	}
	minimums, dependsOn := map[string]int32{}, []string(nil)
	for i := range job.Spec.Tasks {
		t := &job.Spec.Tasks[i]
		minimums[t.Name] = ptr.Deref(t.MinAvailable, 0)
		if t.Name == name && t.DependsOn != nil {
			dependsOn = t.DependsOn.Name
		}
	}
	for _, other := range dependsOn {
		if minimums[other] > 0 && !c.started[taskOf{jobOf(pod), other}] {
			c.world.fail("pod %s was created, but task %s, which its task depends on, has not started", pod.Name, other)
		}
	}
}

// checkStep checks that the job of a flow's step is created only after the jobs that the step depends on have completed.
func (c *checks) checkStep(job *batchv1alpha1.Job) {
	owner := metav1.GetControllerOf(job)
	if owner == nil || owner.Kind != flowKind.Kind {
		return
	}
	for _, o := range c.world.objectsAt(flowKind, len(c.world.changes[flowKind])) {
		flow := o.(*flowv1alpha1.JobFlow)
		if flow.UID != owner.UID {
			continue
		}
		for i := range flow.Spec.Flows {
			step := &flow.Spec.Flows[i]
			isOther := flowv1alpha1.JobName(flow, step.Name) != job.Name
			if isOther || step.DependsOn == nil || step.DependsOn.Probe != nil {
				continue
			}
			for _, target := range step.DependsOn.Targets {
				needed := c.world.jobNamed(flow.Namespace, flowv1alpha1.JobName(flow, target))
				if needed != nil && needed.Status.State.Phase != batchv1alpha1.Completed {
					c.world.fail("job %s was created, but job %s, which its step depends on, is %s", job.Name, needed.Name, needed.Status.State.Phase)
				}
			}
		}
	}
}

// checkFlowStatuses checks, at rest, that the statuses of flows contain the current phases of their jobs.
func (w *World) checkFlowStatuses() {
	for _, o := range w.objectsAt(flowKind, len(w.changes[flowKind])) {
		flow := o.(*flowv1alpha1.JobFlow)
		for i := range flow.Status.JobStatusList {
			s := &flow.Status.JobStatusList[i]
			job := w.jobNamed(flow.Namespace, s.Name)
			isOfFlow := job != nil && metav1.IsControlledBy(job, flow)
			if isOfFlow && isSettledPhase(job.Status.State.Phase) && job.Status.State.Phase != s.State {
				w.fail("flow %s: the status says that job %s is %s, but it is %s", flow.Name, s.Name, s.State, job.Status.State.Phase)
			}
		}
	}
}
