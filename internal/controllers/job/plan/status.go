package plan

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// pluginKey and claimKey are prefixes for keys in status.controlledResources.
const (
	pluginKey = "plugin-"
	claimKey  = "volume-pvc-"
)

func isPluginKey(key string) bool { return strings.HasPrefix(key, pluginKey) }

// enterPhaseInStatus changes the phase in a status, together with the time, the reason and the list of past phases. If
// the job continues or has completed, it removes the recorded failure.
func enterPhaseInStatus(job *batchv1alpha1.Job, status *batchv1alpha1.JobStatus, phase batchv1alpha1.JobPhase, reason, message string, now time.Time) {
	at := metav1.NewTime(now)
	switch phase {
	case batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Completed:
		status.Failure = nil
	}
	status.State = batchv1alpha1.JobState{Phase: phase, Reason: reason, Message: message, LastTransitionTime: at}
	status.Conditions = slices.DeleteFunc(status.Conditions, func(c batchv1alpha1.JobCondition) bool { return c.Status == phase })
	status.Conditions = append(status.Conditions, batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &at})
	if !job.CreationTimestamp.IsZero() {
		status.RunningDuration = &metav1.Duration{Duration: now.Sub(job.CreationTimestamp.Time).Truncate(time.Second)}
	}
}

// updateCounters updates the counters in a status.
func (b *builder) updateCounters(status *batchv1alpha1.JobStatus) counters {
	b.dropStoppedResults()
	n := b.census.countPods(b.job)
	b.countPlacesWithoutPod(&n)
	b.writeRecord(status)
	status.Pending, status.Running, status.Succeeded = n.pending, n.running, n.succeeded
	status.Failed, status.Terminating, status.Unknown = n.failed, n.terminating, n.unknown
	status.TaskStatusCount = n.tasks
	status.MinAvailable = b.job.Spec.MinAvailable
	return n
}

// countAndSettle counts the pods, enters the resulting phase, and writes the status.
func (b *builder) countAndSettle() *batchv1alpha1.JobStatus {
	status := b.job.Status.DeepCopy()
	n := b.updateCounters(status)
	phase, failed, why := b.judgePhase(&n)
	code := failed.reasonCodeText()
	if phase != status.State.Phase {
		reason := status.State.Reason // an ended job keeps the reason why it ended
		if phase == batchv1alpha1.Pending || phase == batchv1alpha1.Running || b.currentPhase() == batchv1alpha1.Restarting {
			reason = code
		}
		if message := status.State.Message; reason != code && message != "" {
			why = message
		}
		enterPhaseInStatus(b.job, status, phase, reason, why, b.in.Now)
		recordFailure(status, failed)
		delete(status.ControlledResources, targetKey)
	}
	b.writeStatus(status)
	return status
}

// writeStatus writes a status if it differs from the current one.
func (b *builder) writeStatus(status *batchv1alpha1.JobStatus) {
	b.recordPodNodes(status)
	b.recordReports(status)
	old := &b.in.Job.Status
	if len(status.ControlledResources) == 0 {
		status.ControlledResources = nil
	}
	if len(status.TaskStatusCount) == 0 {
		status.TaskStatusCount = nil
	}
	if equality.Semantic.DeepEqual(old, status) {
		return
	}
	if status.State.Phase != old.State.Phase {
		b.plan.Entered = status.State.Phase
	}
	lazy := status.State == old.State && status.Version == old.Version && !b.stopsAnyPod()
	lazy = lazy && equality.Semantic.DeepEqual(status.ControlledResources, old.ControlledResources)
	lazy = lazy && equality.Semantic.DeepEqual(status.Evictions, old.Evictions)
	isPlainPending := status.State.Phase == batchv1alpha1.Pending && status.State.Reason == "" && len(status.ControlledResources) == 0
	first := isPlainPending && old.State.Phase == ""
	b.appendWrites(WriteStatus{Status: *status, Lazy: lazy, First: first})
}
