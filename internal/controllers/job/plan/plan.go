package plan

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// Compute returns the plan for a job.
func Compute(in Input) Plan {
	b := newBuilder(&in)
	if b.job.DeletionTimestamp != nil {
		return b.plan // the garbage collector deletes the objects that it owns
	}
	asked := b.decideAction() // 1. Does a command or a policy request an action?
	if b.plan.Refresh {
		return Plan{Job: b.job, Refresh: true}
	}
	do := responseInPhase(b.currentPhase(), asked.action) // 2. How does this phase respond?
	// A command that has been carried out is deleted before anything else, so that no later phase carries it out again.
	if asked.idle != nil {
		b.appendWrites(DeleteCommand{Command: asked.idle})
	}
	if asked.command != nil && do.next == "" {
		b.appendWrites(DeleteCommand{Command: asked.command})
	}
	switch {
	case do.next != "":
		b.enterRequestedPhase(do, asked) // 3a. Change the phase: write the status first, then stop pods.
	case do.sync:
		b.syncDesiredState() // 3b. No special action: bring the objects to the desired state.
	case b.currentPhase() == batchv1alpha1.Restarting:
		b.continueRestarting(asked) // 3c. Finish the current restart.
	case IsEndedOrAborted(b.currentPhase()):
		b.maintainEndedJob() // 3d. The job has ended: clean up and count.
	default:
		b.continueStopping() // 3e. The job is ending: wait until all pods have ended.
	}
	if b.plan.Refresh {
		return Plan{Job: b.job, Refresh: true}
	}
	if asked.command != nil && do.next != "" {
		b.appendWrites(DeleteCommand{Command: asked.command}) // 4. Delete the command last, so that it survives a crash.
	}
	return b.plan
}

func newBuilder(in *Input) *builder {
	job := in.Job.DeepCopy()
	batchv1alpha1.DefaultJob(job, "")
	b := &builder{in: in, job: job, plan: Plan{Job: job}}
	b.array = parseArray(in, job)
	b.plan.Array = b.array
	b.census = countMembers(job, in)
	b.parseRecord()
	b.recordEvictions()
	b.plugins, b.pluginErr = plugin.For(job)
	for _, l := range in.Lost {
		if l.Version < job.Status.Version || b.currentPhase() != batchv1alpha1.Restarting {
			b.plan.Answered = append(b.plan.Answered, l.UID) // decideAction may remove some again
		}
	}
	b.answerReports()
	return b
}

// enterRequestedPhase writes the new phase before it stops pods. If there is a crash in between, the next plan stops
// the remaining pods.
func (b *builder) enterRequestedPhase(do step, asked decision) {
	status := b.job.Status.DeepCopy()
	switch {
	case do.retry && asked.command != nil:
		status.UserRestarts++ // a restart requested by a user does not count as a failure
	case do.retry:
		status.RetryCount++
	}
	if do.kill != killTarget {
		status.Version++
		status.RefusedPods = 0
	}
	enterPhaseInStatus(b.job, status, do.next, string(asked.action), asked.why, b.in.Now)
	status.Failure = asked.cause.jobFailure()
	// After too many failures, the job enters the phase Restarting and then fails. Its status describes this last attempt.
	failsNext := asked.command == nil && status.RetryCount >= b.job.Spec.MaxRetry
	if do.retry && !failsNext {
		b.recordAttempt(status, status.Failure, asked.why)
	}
	delete(status.ControlledResources, targetKey)
	switch do.kill {
	case killTarget:
		storeTargets(status, asked.targets)
		b.markTargets(asked.targets)
	case killAll:
		b.dropAllResults()
		// Keep the pods of the last attempt for inspection.
		b.markPodsToStop(asked.command == nil && b.job.Status.RetryCount >= b.job.Spec.MaxRetry-1)
	default:
		b.markPodsToStop(true)
	}
	b.appendEvent(corev1.EventTypeNormal, string(batchv1alpha1.ExecuteAction), "Start to execute action %s: %s", asked.action, asked.why)
	b.updateCounters(status)
	b.writeStatus(status)
	b.stopPods()
	if do.next == batchv1alpha1.Restarting && do.kill != killTarget && b.in.PodGroup != nil {
		b.appendWrites(DeleteGroup{Group: b.in.PodGroup})
	}
}

// continueStopping continues the phases Aborting, Completing and Terminating.
func (b *builder) continueStopping() {
	if b.isInputOutdated() && b.haveAllPodsEnded() {
		b.plan.Refresh = true // an outdated list may lack pods that have not ended
		return
	}
	b.markPodsToStop(true)
	b.countAndSettle()
	b.stopPods()
}

// maintainEndedJob maintains an ended job, and deletes it when its time to live has passed.
func (b *builder) maintainEndedJob() {
	status := b.job.Status.DeepCopy()
	if left, ok := b.remainingLifetime(); ok {
		switch {
		case left > 0:
			b.requestPlanAfter(left)
		case b.in.Awaited:
			b.requestPlanAfter(awaitedAgain) // a job that waits for this one still depends on how this one ended
		default:
			b.appendWrites(DeleteJob{})
			return
		}
	}
	b.markPodsToStop(true)
	b.stopPods()
	before := len(status.ControlledResources)
	maps.DeleteFunc(status.ControlledResources, func(key, _ string) bool { return isPluginKey(key) })
	if len(status.ControlledResources) != before {
		b.appendWrites(RemoveObjects{})
	}
	if b.in.PodGroup != nil && b.in.PodGroup.DeletionTimestamp == nil {
		b.appendWrites(DeleteGroup{Group: b.in.PodGroup})
	}
	b.updateCounters(status)
	b.writeStatus(status)
	b.requestJobNumber()
}

// remainingLifetime returns how much longer the ended job is kept. It returns false if the job is kept without a limit.
func (b *builder) remainingLifetime() (time.Duration, bool) {
	ttl, since := b.job.Spec.TTLSecondsAfterFinished, b.job.Status.State.LastTransitionTime
	isKept := b.in.KeepEnded || b.isOnlySuspended()
	if isKept || ttl == nil || since.IsZero() {
		return 0, false
	}
	return since.Add(time.Duration(*ttl) * time.Second).Sub(b.in.Now), true
}

// isOnlySuspended reports whether the job is only suspended. Slurm users suspend jobs in order to resume them later,
// and the time to live of their jobs only controls how long sacct shows the history. For other jobs, the owner has set
// the time to live, and it applies to suspended jobs, too.
func (b *builder) isOnlySuspended() bool {
	notes := b.job.Annotations
	return b.currentPhase() == batchv1alpha1.Aborted && notes[keys.Slurm] != "" && notes[keys.CancelledBy] == ""
}

// continueRestarting continues a restart. It stops the affected pods and then lets the job start again.
func (b *builder) continueRestarting(asked decision) {
	if b.isInputOutdated() {
		b.plan.Refresh = true // an outdated list may lack the command that caused the restart; it would be carried out again
		return
	}
	status := b.job.Status.DeepCopy()
	switch targets := storedTargets(status); {
	case isTargeted(asked.action):
		targets = mergeTargets(targets, asked.targets)
		storeTargets(status, targets)
		b.markTargets(targets)
	case asked.action == busv1alpha1.RestartJobAction && len(targets) > 0:
		// An event or command requires a restart of the whole job while a part is being restarted.
		status.Version++
		status.RefusedPods = 0
		status.State.Reason, status.State.Message, status.Failure = string(asked.action), asked.why, asked.cause.jobFailure()
		delete(status.ControlledResources, targetKey)
		b.job.Status = *status.DeepCopy()
		b.dropAllResults()
		b.markOutdated()
	case len(targets) > 0:
		b.markTargets(targets)
	default:
		b.markOutdated()
	}
	if b.stopsAnyPod() || b.marksAnyPod() {
		b.updateCounters(status)
		b.writeStatus(status)
		b.stopPods()
		return
	}
	if b.in.PodGroup != nil && b.in.PodGroup.DeletionTimestamp == nil && !b.groupIsCurrent() {
		b.appendWrites(DeleteGroup{Group: b.in.PodGroup})
	}
	b.countAndSettle()
}
