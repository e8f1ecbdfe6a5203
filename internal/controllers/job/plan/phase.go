package plan

import (
	"fmt"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// kill selects the pods that a step stops.
type kill int

const (
	killNothing kill = iota
	killLive         // all pods except finished ones
	killAll          // all pods, including finished ones
	killTarget       // the pods of one task, partition or index
)

// step is the response to an action in some phase.
type step struct {
	// next is the phase to enter immediately; empty means to stay in the current phase.
	next batchv1alpha1.JobPhase
	kill kill
	// retry is true if the step counts as a restart, regardless of whether a user or a failure caused it.
	retry bool
	// sync continues the job without a change.
	sync bool
	// hold postpones the action, so that a command waits until the phase is over.
	hold bool
}

// isTargeted reports whether an action restarts only a part of the job.
func isTargeted(a busv1alpha1.Action) bool {
	return a == busv1alpha1.RestartTaskAction || a == busv1alpha1.RestartPodAction || a == busv1alpha1.RestartPartitionAction
}

// responseInPhase is the state table. It returns the step that an action causes in a phase. The conditions under which
// a job leaves a phase without an action are in settle.
func responseInPhase(phase batchv1alpha1.JobPhase, a busv1alpha1.Action) step {
	switch phase {
	case "", batchv1alpha1.Pending, batchv1alpha1.Running:
		return respondActive(a)
	case batchv1alpha1.Restarting:
		return respondRestarting(a)
	case batchv1alpha1.Aborting, batchv1alpha1.Aborted:
		switch a {
		case busv1alpha1.ResumeJobAction:
			return step{next: batchv1alpha1.Restarting, kill: killLive, retry: true}
		case busv1alpha1.TerminateJobAction: // clients that wait for the end of the job must see it end
			return step{next: batchv1alpha1.Terminating, kill: killLive}
		}
		return step{kill: killLive}
	default: // Completing, Terminating and the phases at rest
		return step{kill: killLive}
	}
}

func respondActive(a busv1alpha1.Action) step {
	switch a {
	case busv1alpha1.RestartJobAction:
		return step{next: batchv1alpha1.Restarting, kill: killAll, retry: true}
	case busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction, busv1alpha1.RestartPartitionAction:
		return step{next: batchv1alpha1.Restarting, kill: killTarget, retry: true}
	case busv1alpha1.AbortJobAction:
		return step{next: batchv1alpha1.Aborting, kill: killLive}
	case busv1alpha1.CompleteJobAction:
		return step{next: batchv1alpha1.Completing, kill: killLive}
	case busv1alpha1.TerminateJobAction:
		return step{next: batchv1alpha1.Terminating, kill: killLive}
	default:
		return step{sync: true}
	}
}

// respondRestarting returns the step for a job that is restarting. The restart is finished before any other action.
func respondRestarting(a busv1alpha1.Action) step {
	switch a {
	case busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction, busv1alpha1.RestartPartitionAction:
		return step{kill: killTarget}
	case busv1alpha1.AbortJobAction, busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction:
		return step{kill: killAll, hold: true}
	default:
		return step{kill: killAll}
	}
}

// IsEndedOrAborted reports whether a job in this phase has ended.
func IsEndedOrAborted(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
		return true
	}
	return false
}

// phaseWithoutAction returns the phase that a job enters without an action, given the state of its pods; if nothing
// changes, it is the current phase. why is a sentence for users.
func phaseWithoutAction(job *batchv1alpha1.Job, n *counters) (phase batchv1alpha1.JobPhase, why string) {
	switch job.Status.State.Phase {
	case "", batchv1alpha1.Pending:
		if n.hasNothingLeft(job) {
			return batchv1alpha1.Terminated, allCancelled
		}
		if n.requiredStarted(job) <= n.running+n.succeeded+n.failed {
			return batchv1alpha1.Running, "minAvailable pods have started"
		}
		return batchv1alpha1.Pending, ""
	case batchv1alpha1.Running:
		return settleRunning(job, n)
	case batchv1alpha1.Restarting:
		return settleRestarting(job, n)
	case batchv1alpha1.Aborting:
		return enterWhenQuiet(n, batchv1alpha1.Aborting, batchv1alpha1.Aborted)
	case batchv1alpha1.Completing:
		return enterWhenQuiet(n, batchv1alpha1.Completing, batchv1alpha1.Completed)
	case batchv1alpha1.Terminating:
		return enterWhenQuiet(n, batchv1alpha1.Terminating, batchv1alpha1.Terminated)
	}
	return job.Status.State.Phase, ""
}

// allCancelled is the message for an array that ends before any element has run.
const allCancelled = "all elements of the array were cancelled"

// hasNothingLeft reports whether all remaining work of the job was cancelled.
func (n *counters) hasNothingLeft(job *batchv1alpha1.Job) bool {
	return n.cancelled > 0 && n.cancelled+n.cutShort == countReplicas(job)
}

// requiredStarted returns the number of pods that must have started: minAvailable, but no more than the number of
// places that are not cancelled.
func (n *counters) requiredStarted(job *batchv1alpha1.Job) int32 {
	return min(job.Spec.MinAvailable, countReplicas(job)-n.cancelled)
}

func enterWhenQuiet(n *counters, now, then batchv1alpha1.JobPhase) (batchv1alpha1.JobPhase, string) {
	if n.countLivePods() > 0 {
		return now, ""
	}
	return then, "all pods have ended"
}

func settleRunning(job *batchv1alpha1.Job, n *counters) (batchv1alpha1.JobPhase, string) {
	if n.hasNothingLeft(job) {
		return batchv1alpha1.Terminated, allCancelled
	}
	total := countReplicas(job) - n.cancelled
	if total == 0 {
		return batchv1alpha1.Running, "" // scaled to zero: the job waits until it is scaled up
	}
	if want := job.Spec.MinSuccess; want != nil && n.succeeded >= *want {
		return batchv1alpha1.Completed, "minSuccess pods succeeded"
	}
	if n.succeeded+n.failed == total {
		return settleEnded(job, n)
	}
	if n.pending > total-n.requiredStarted(job) {
		return batchv1alpha1.Pending, "fewer than minAvailable pods are left"
	}
	return batchv1alpha1.Running, ""
}

// settleEnded returns the phase of a job whose pods have all ended.
func settleEnded(job *batchv1alpha1.Job, n *counters) (batchv1alpha1.JobPhase, string) {
	if job.Spec.MinAvailable >= taskMinimums(job) {
		for i := range job.Spec.Tasks {
			t := &job.Spec.Tasks[i]
			if t.MinAvailable != nil && n.tasks[t.Name].Phase["Succeeded"] < *t.MinAvailable {
				return batchv1alpha1.Failed, "of task " + t.Name + " fewer than its minAvailable pods succeeded"
			}
		}
	}
	if want := job.Spec.MinSuccess; want != nil && n.succeeded < *want {
		return batchv1alpha1.Failed, "fewer than minSuccess pods succeeded"
	}
	if n.succeeded >= job.Spec.MinAvailable {
		return batchv1alpha1.Completed, "all pods have ended, and at least minAvailable succeeded"
	}
	return batchv1alpha1.Failed, "fewer than minAvailable pods succeeded"
}

func settleRestarting(job *batchv1alpha1.Job, n *counters) (batchv1alpha1.JobPhase, string) {
	if exceedsMaxRetry(job) {
		return batchv1alpha1.Failed, fmt.Sprintf("it ran %d times, maxRetry %d", job.Status.RetryCount, job.Spec.MaxRetry)
	}
	if countReplicas(job)-n.terminating >= job.Spec.MinAvailable {
		return batchv1alpha1.Pending, "the pods are being started again"
	}
	return batchv1alpha1.Restarting, ""
}

// exceedsMaxRetry reports whether the current restart exceeds maxRetry. A resumed job never does.
func exceedsMaxRetry(job *batchv1alpha1.Job) bool {
	return job.Status.RetryCount >= job.Spec.MaxRetry && job.Status.State.Reason != string(busv1alpha1.ResumeJobAction)
}

func countReplicas(job *batchv1alpha1.Job) int32 {
	var n int32
	for i := range job.Spec.Tasks {
		n += job.Spec.Tasks[i].Replicas
	}
	return n
}

func taskMinimums(job *batchv1alpha1.Job) int32 {
	var n int32
	for i := range job.Spec.Tasks {
		n += taskMinimum(&job.Spec.Tasks[i])
	}
	return n
}

func taskMinimum(t *batchv1alpha1.TaskSpec) int32 {
	if t.MinAvailable != nil {
		return *t.MinAvailable
	}
	return t.Replicas
}
