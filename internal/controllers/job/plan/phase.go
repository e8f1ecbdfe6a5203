package plan

import (
	"fmt"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	bus "github.com/vc-batch/vc/api/bus/v1alpha1"
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
	next batch.JobPhase
	kill kill
	// retry is true if the step counts as a restart, regardless of whether a user or a failure caused it.
	retry bool
	// sync continues the job without a change.
	sync bool
	// hold postpones the action, so that a command waits until the phase is over.
	hold bool
}

// isTargeted reports whether an action restarts only a part of the job.
func isTargeted(a bus.Action) bool {
	return a == bus.RestartTaskAction || a == bus.RestartPodAction || a == bus.RestartPartitionAction
}

// responseInPhase is the state table. It returns the step that an action causes in a phase. The conditions under which
// a job leaves a phase without an action are in settle.
func responseInPhase(phase batch.JobPhase, a bus.Action) step {
	switch phase {
	case "", batch.Pending, batch.Running:
		return respondActive(a)
	case batch.Restarting:
		return respondRestarting(a)
	case batch.Aborting, batch.Aborted:
		switch a {
		case bus.ResumeJobAction:
			return step{next: batch.Restarting, kill: killLive, retry: true}
		case bus.TerminateJobAction: // clients that wait for the end of the job must see it end
			return step{next: batch.Terminating, kill: killLive}
		}
		return step{kill: killLive}
	default: // Completing, Terminating and the phases at rest
		return step{kill: killLive}
	}
}

func respondActive(a bus.Action) step {
	switch a {
	case bus.RestartJobAction:
		return step{next: batch.Restarting, kill: killAll, retry: true}
	case bus.RestartTaskAction, bus.RestartPodAction, bus.RestartPartitionAction:
		return step{next: batch.Restarting, kill: killTarget, retry: true}
	case bus.AbortJobAction:
		return step{next: batch.Aborting, kill: killLive}
	case bus.CompleteJobAction:
		return step{next: batch.Completing, kill: killLive}
	case bus.TerminateJobAction:
		return step{next: batch.Terminating, kill: killLive}
	default:
		return step{sync: true}
	}
}

// respondRestarting returns the step for a job that is restarting. The restart is finished before any other action.
func respondRestarting(a bus.Action) step {
	switch a {
	case bus.RestartTaskAction, bus.RestartPodAction, bus.RestartPartitionAction:
		return step{kill: killTarget}
	case bus.AbortJobAction, bus.CompleteJobAction, bus.TerminateJobAction:
		return step{kill: killAll, hold: true}
	default:
		return step{kill: killAll}
	}
}

// IsEndedOrAborted reports whether a job in this phase has ended.
func IsEndedOrAborted(phase batch.JobPhase) bool {
	switch phase {
	case batch.Completed, batch.Failed, batch.Terminated, batch.Aborted:
		return true
	}
	return false
}

// phaseWithoutAction returns the phase that a job enters without an action, given the state of its pods; if nothing
// changes, it is the current phase. why is a sentence for users.
func phaseWithoutAction(job *batch.Job, n *counters) (phase batch.JobPhase, why string) {
	switch job.Status.State.Phase {
	case "", batch.Pending:
		if n.hasNothingLeft(job) {
			return batch.Terminated, allCancelled
		}
		if n.requiredStarted(job) <= n.running+n.succeeded+n.failed {
			return batch.Running, "minAvailable pods have started"
		}
		return batch.Pending, ""
	case batch.Running:
		return settleRunning(job, n)
	case batch.Restarting:
		return settleRestarting(job, n)
	case batch.Aborting:
		return enterWhenQuiet(n, batch.Aborting, batch.Aborted)
	case batch.Completing:
		return enterWhenQuiet(n, batch.Completing, batch.Completed)
	case batch.Terminating:
		return enterWhenQuiet(n, batch.Terminating, batch.Terminated)
	}
	return job.Status.State.Phase, ""
}

// allCancelled is the message for an array that ends before any element has run.
const allCancelled = "all elements of the array were cancelled"

// hasNothingLeft reports whether all remaining work of the job was cancelled.
func (n *counters) hasNothingLeft(job *batch.Job) bool {
	return n.cancelled > 0 && n.cancelled+n.cutShort == countReplicas(job)
}

// requiredStarted returns the number of pods that must have started: minAvailable, but no more than the number of
// places that are not cancelled.
func (n *counters) requiredStarted(job *batch.Job) int32 {
	return min(job.Spec.MinAvailable, countReplicas(job)-n.cancelled)
}

func enterWhenQuiet(n *counters, now, then batch.JobPhase) (batch.JobPhase, string) {
	if n.countLivePods() > 0 {
		return now, ""
	}
	return then, "all pods have ended"
}

func settleRunning(job *batch.Job, n *counters) (batch.JobPhase, string) {
	if n.hasNothingLeft(job) {
		return batch.Terminated, allCancelled
	}
	total := countReplicas(job) - n.cancelled
	if total == 0 {
		return batch.Running, "" // scaled to zero: the job waits until it is scaled up
	}
	if want := job.Spec.MinSuccess; want != nil && n.succeeded >= *want {
		return batch.Completed, "minSuccess pods succeeded"
	}
	if n.succeeded+n.failed == total {
		return settleEnded(job, n)
	}
	if n.pending > total-n.requiredStarted(job) {
		return batch.Pending, "fewer than minAvailable pods are left"
	}
	return batch.Running, ""
}

// settleEnded returns the phase of a job whose pods have all ended.
func settleEnded(job *batch.Job, n *counters) (batch.JobPhase, string) {
	if job.Spec.MinAvailable >= taskMinimums(job) {
		for i := range job.Spec.Tasks {
			t := &job.Spec.Tasks[i]
			if t.MinAvailable != nil && n.tasks[t.Name].Phase["Succeeded"] < *t.MinAvailable {
				return batch.Failed, "of task " + t.Name + " fewer than its minAvailable pods succeeded"
			}
		}
	}
	if want := job.Spec.MinSuccess; want != nil && n.succeeded < *want {
		return batch.Failed, "fewer than minSuccess pods succeeded"
	}
	if n.succeeded >= job.Spec.MinAvailable {
		return batch.Completed, "all pods have ended, and at least minAvailable succeeded"
	}
	return batch.Failed, "fewer than minAvailable pods succeeded"
}

func settleRestarting(job *batch.Job, n *counters) (batch.JobPhase, string) {
	if exceedsMaxRetry(job) {
		return batch.Failed, fmt.Sprintf("it ran %d times, maxRetry %d", job.Status.RetryCount, job.Spec.MaxRetry)
	}
	if countReplicas(job)-n.terminating >= job.Spec.MinAvailable {
		return batch.Pending, "the pods are being started again"
	}
	return batch.Restarting, ""
}

// exceedsMaxRetry reports whether the current restart exceeds maxRetry. A resumed job never does.
func exceedsMaxRetry(job *batch.Job) bool {
	return job.Status.RetryCount >= job.Spec.MaxRetry && job.Status.State.Reason != string(bus.ResumeJobAction)
}

func countReplicas(job *batch.Job) int32 {
	var n int32
	for i := range job.Spec.Tasks {
		n += job.Spec.Tasks[i].Replicas
	}
	return n
}

func taskMinimums(job *batch.Job) int32 {
	var n int32
	for i := range job.Spec.Tasks {
		n += taskMinimum(&job.Spec.Tasks[i])
	}
	return n
}

func taskMinimum(t *batch.TaskSpec) int32 {
	if t.MinAvailable != nil {
		return *t.MinAvailable
	}
	return t.Replicas
}
