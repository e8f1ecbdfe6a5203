package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/reason"
)

// findHopelessCause returns the reason to give up on a job that would otherwise never end, because a pod crashes again
// and again, or because tasks have a dependency that can never be met. It returns nil if the job can still make
// progress.
func (b *builder) findHopelessCause(n *counters) *Cause {
	switch b.currentPhase() {
	case batchv1alpha1.Running:
		if c := b.findRestartsExhausted(); c != nil {
			return c
		}
	case batchv1alpha1.Pending:
	default:
		return nil
	}
	return b.findStuckCause(n)
}

// mayKeepRunning reports whether a pod is alive, belongs to the current version of the job and is not being stopped.
func (b *builder) mayKeepRunning(m *member) bool {
	if m.stop || m.marked {
		return false
	}
	return m.inRange && m.isLivePod() && m.version == b.job.Status.Version
}

// findRestartsExhausted returns a cause if the kubelet has restarted a pod's containers more often than its task
// allows. The last crash must have occurred while the job was running, because before that, a pod may fail only because
// other pods do not exist yet. Tasks with a policy that responds to the failure are ignored.
func (b *builder) findRestartsExhausted() *Cause {
	since := b.job.Status.State.LastTransitionTime.Time
	for _, m := range b.census.members {
		if !b.mayKeepRunning(m) {
			continue
		}
		task := &b.job.Spec.Tasks[m.place.Task]
		limit := cmp.Or(task.MaxRetry, defaultTaskRetry)
		isLimited := limit >= 0 && task.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		if !isLimited || restartCount(m.pod) <= limit || !crashedAfter(m.pod, since) {
			continue
		}
		if _, answered := resolveResponse(b.job, &event{kind: busv1alpha1.TaskFailedEvent, task: m.place.Task}); answered {
			continue
		}
		name := fmt.Sprintf("%s-%d", task.Name, m.place.Index)
		c := Cause{code: reason.PodFailed, text: name + " crashed"}
		if end := lastCrashTime(m.pod); end != nil {
			c = describeContainerEnd(name, end, onlyMemoryLimit(m.pod))
			c.exit = &end.ExitCode
		}
		c.text += fmt.Sprintf("; its containers were restarted %d times, but maxRetry of task %s is %d", restartCount(m.pod), task.Name, limit)
		return &c
	}
	return nil
}

// visitCrashes calls f for the last failed run of each container.
func visitCrashes(pod *corev1.Pod, f func(*corev1.ContainerStateTerminated)) {
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			for _, end := range []*corev1.ContainerStateTerminated{statuses[i].State.Terminated, statuses[i].LastTerminationState.Terminated} {
				if end != nil && end.ExitCode != 0 {
					f(end)
					break
				}
			}
		}
	}
}

func crashedAfter(pod *corev1.Pod, since time.Time) (after bool) {
	visitCrashes(pod, func(end *corev1.ContainerStateTerminated) { after = after || end.FinishedAt.After(since) })
	return after
}

func lastCrashTime(pod *corev1.Pod) (last *corev1.ContainerStateTerminated) {
	visitCrashes(pod, func(end *corev1.ContainerStateTerminated) {
		if last == nil || end.FinishedAt.After(last.FinishedAt.Time) {
			last = end
		}
	})
	return last
}

// findStuckCause returns a cause if an admitted job cannot make progress, because it has no live pods and the incomplete
// tasks are waiting for tasks that will never become ready. This is also so if tasks wait for each other in a circle,
// which only admission rejects. It returns nil if the delayed response of a policy may still change this.
func (b *builder) findStuckCause(n *counters) *Cause {
	if b.delayed || n.countLivePods() > 0 {
		return nil
	}
	isAdmitted := b.in.PodGroup != nil && IsGroupAdmitted(b.in.PodGroup)
	if !isAdmitted || !b.groupIsCurrent() {
		return nil
	}
	var waiting string
	for task := range b.job.Spec.Tasks {
		switch {
		case !b.hasMissingPod(task):
		case b.dependenciesMet(task):
			return nil
		case waiting == "":
			t := &b.job.Spec.Tasks[task]
			waiting = fmt.Sprintf("task %s can never start: it waits for %s", t.Name, strings.Join(t.DependsOn.Name, ", "))
		}
	}
	if waiting == "" {
		return nil
	}
	c := Cause{text: waiting}
	if first := b.firstFailed(); first != nil {
		c = b.causeOfMember(first)
		c.text += "; " + waiting
	}
	return &c
}

// judgePhase returns the phase that follows from the state of the pods, and the cause if the job has failed. The text
// about a failure names the first pod that failed, and then the rule that was violated.
func (b *builder) judgePhase(n *counters) (phase batchv1alpha1.JobPhase, failed *Cause, why string) {
	phase, why = phaseWithoutAction(b.job, n)
	if phase == batchv1alpha1.Running && b.isWaitingAtGate() {
		phase, why = batchv1alpha1.Pending, "" // it was scaled to zero, so no pod has to start
	}
	if phase == batchv1alpha1.Pending || phase == batchv1alpha1.Running {
		if c := b.findHopelessCause(n); c != nil {
			return batchv1alpha1.Failed, c, c.text
		}
	}
	if phase != batchv1alpha1.Failed || b.currentPhase() == batchv1alpha1.Failed {
		return phase, nil, why
	}
	first := b.firstFailed()
	if first == nil {
		return phase, nil, why
	}
	c := b.causeOfMember(first)
	if b.currentPhase() == batchv1alpha1.Running && n.succeeded == 0 {
		return phase, &c, c.text // no pod succeeded, so naming the rule would add nothing
	}
	return phase, &c, c.text + "; " + why
}
