package plan

import (
	"cmp"
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
	// hold postpones the action. A command then has to wait until the phase is over.
	hold bool
}

// isTargeted reports whether an action restarts only a part of the job.
func isTargeted(a busv1alpha1.Action) bool {
	return a == busv1alpha1.RestartTaskAction || a == busv1alpha1.RestartPodAction || a == busv1alpha1.RestartPartitionAction
}

// responseInPhase is the state table. It returns the step that an action causes in a phase. The conditions under which
// a job leaves a phase without an action are in phaseWithoutAction.
func responseInPhase(phase batchv1alpha1.JobPhase, a busv1alpha1.Action) step {
	switch phase {
	case "", batchv1alpha1.Pending, batchv1alpha1.Running:
		return cmp.Or(activeSteps[a], step{sync: true})
	case batchv1alpha1.Restarting:
		return cmp.Or(restartingSteps[a], step{kill: killAll})
	case batchv1alpha1.Aborting, batchv1alpha1.Aborted:
		return cmp.Or(abortedSteps[a], step{kill: killLive})
	default: // Completing, Terminating and the phases at rest
		return step{kill: killLive}
	}
}

// activeSteps holds the steps for a job that is pending or running. All other actions change nothing.
var activeSteps = map[busv1alpha1.Action]step{
	busv1alpha1.RestartJobAction:       {next: batchv1alpha1.Restarting, kill: killAll, retry: true},
	busv1alpha1.RestartTaskAction:      {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
	busv1alpha1.RestartPodAction:       {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
	busv1alpha1.RestartPartitionAction: {next: batchv1alpha1.Restarting, kill: killTarget, retry: true},
	busv1alpha1.AbortJobAction:         {next: batchv1alpha1.Aborting, kill: killLive},
	busv1alpha1.CompleteJobAction:      {next: batchv1alpha1.Completing, kill: killLive},
	busv1alpha1.TerminateJobAction:     {next: batchv1alpha1.Terminating, kill: killLive},
}

// restartingSteps holds the steps for a job that is restarting. The restart is finished before any other action.
var restartingSteps = map[busv1alpha1.Action]step{
	busv1alpha1.RestartTaskAction:      {kill: killTarget},
	busv1alpha1.RestartPodAction:       {kill: killTarget},
	busv1alpha1.RestartPartitionAction: {kill: killTarget},
	busv1alpha1.AbortJobAction:         {kill: killAll, hold: true},
	busv1alpha1.CompleteJobAction:      {kill: killAll, hold: true},
	busv1alpha1.TerminateJobAction:     {kill: killAll, hold: true},
}

// abortedSteps holds the steps for a job that is aborting or aborted.
var abortedSteps = map[busv1alpha1.Action]step{
	busv1alpha1.ResumeJobAction: {next: batchv1alpha1.Restarting, kill: killLive, retry: true},
	// Clients that are waiting for the job to end must be able to observe its end.
	busv1alpha1.TerminateJobAction: {next: batchv1alpha1.Terminating, kill: killLive},
}

// IsEndedOrAborted reports whether a job in this phase has ended.
func IsEndedOrAborted(phase batchv1alpha1.JobPhase) bool {
	switch phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated, batchv1alpha1.Aborted:
		return true
	}
	return false
}

// phaseWithoutAction returns the phase that a job enters without an action because of the state of its pods. If nothing
// changes, it returns the current phase. why is a sentence for users.
func phaseWithoutAction(job *batchv1alpha1.Job, n *counters) (phase batchv1alpha1.JobPhase, why string) {
	switch job.Status.State.Phase {
	case "", batchv1alpha1.Pending:
		if n.hasNothingLeft(job) {
			return batchv1alpha1.Terminated, allCancelled
		}
		if n.requiredStarted(job) <= n.running+n.succeeded+n.failed {
			return batchv1alpha1.Running, "at least minAvailable pods have started"
		}
		return batchv1alpha1.Pending, ""
	case batchv1alpha1.Running:
		return settleRunning(job, n)
	case batchv1alpha1.Restarting:
		return settleRestarting(job, n)
	}
	end, isEnding := phaseAfter[job.Status.State.Phase]
	if isEnding && n.countLivePods() == 0 {
		return end, "all pods have ended"
	}
	return job.Status.State.Phase, ""
}

// phaseAfter maps each phase in which the pods of a job are stopped to the phase that follows when all pods have ended.
var phaseAfter = map[batchv1alpha1.JobPhase]batchv1alpha1.JobPhase{
	batchv1alpha1.Aborting:    batchv1alpha1.Aborted,
	batchv1alpha1.Completing:  batchv1alpha1.Completed,
	batchv1alpha1.Terminating: batchv1alpha1.Terminated,
}

// allCancelled is the message for an array that ends before any element has run.
const allCancelled = "all tasks of the array were cancelled"

// hasNothingLeft reports whether all remaining work of the job was cancelled.
func (n *counters) hasNothingLeft(job *batchv1alpha1.Job) bool {
	return n.cancelled > 0 && n.cancelled+n.cutShort == countReplicas(job)
}

// requiredStarted returns the number of pods that must have started. This is minAvailable, but no more than the number
// of places that are not cancelled.
func (n *counters) requiredStarted(job *batchv1alpha1.Job) int32 {
	return min(job.Spec.MinAvailable, countReplicas(job)-n.cancelled)
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
		return batchv1alpha1.Pending, "fewer than minAvailable pods remain"
	}
	return batchv1alpha1.Running, ""
}

// settleEnded returns the phase of a job whose pods have all ended.
func settleEnded(job *batchv1alpha1.Job, n *counters) (batchv1alpha1.JobPhase, string) {
	if job.Spec.MinAvailable >= taskMinimums(job) {
		for i := range job.Spec.Tasks {
			t := &job.Spec.Tasks[i]
			if t.MinAvailable != nil && n.tasks[t.Name].Phase["Succeeded"] < *t.MinAvailable {
				return batchv1alpha1.Failed, "in task " + t.Name + ", fewer than minAvailable pods succeeded"
			}
		}
	}
	if want := job.Spec.MinSuccess; want != nil && n.succeeded < *want {
		return batchv1alpha1.Failed, "fewer than minSuccess pods succeeded"
	}
	if n.succeeded >= job.Spec.MinAvailable {
		return batchv1alpha1.Completed, "all pods have ended, and at least minAvailable pods succeeded"
	}
	return batchv1alpha1.Failed, "fewer than minAvailable pods succeeded"
}

func settleRestarting(job *batchv1alpha1.Job, n *counters) (batchv1alpha1.JobPhase, string) {
	if exceedsMaxRetry(job) {
		return batchv1alpha1.Failed, fmt.Sprintf("the job ran %d times; its maxRetry is %d", job.Status.RetryCount, job.Spec.MaxRetry)
	}
	if countReplicas(job)-n.terminating >= job.Spec.MinAvailable {
		return batchv1alpha1.Pending, "the pods are being restarted"
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
