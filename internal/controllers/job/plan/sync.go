package plan

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// syncDesiredState brings the objects to the desired state: the plugins' objects, the PodGroup and, after admission,
// the pods.
func (b *builder) syncDesiredState() {
	b.markUnwanted()
	b.retryRefused()
	status := b.job.Status.DeepCopy()
	status.RefusedPods += b.refused
	if status.State.Phase == "" {
		enterPhaseInStatus(b.job, status, batchv1alpha1.Pending, "", "", b.in.Now)
	}
	n := b.updateCounters(status)
	if phase, failed, why := b.judgePhase(&n); phase != b.currentPhase() {
		enterPhaseInStatus(b.job, status, phase, failed.reasonCodeText(), why, b.in.Now)
		recordFailure(status, failed)
		if IsEndedOrAborted(phase) && b.keepFinished() {
			b.updateCounters(status)
		}
	}
	b.listResources(status)
	problem := b.recordGateStatus(status)
	held := problem != nil
	if !held {
		problem = b.findObstacle()
	}
	b.explainPending(status, problem)
	b.writeStatus(status)
	b.stopPods()
	if IsEndedOrAborted(status.State.Phase) {
		return // the plan for the new phase cleans up
	}
	if b.requestJobNumber() {
		return
	}
	if held {
		b.retractGroup()
		return
	}
	if problem != nil {
		b.appendEvent(corev1.EventTypeWarning, problem.code, "%s", problem.text)
		b.requestPlanAfter(retryAfter)
		return
	}
	b.setForwardingAnnotation()
	b.syncGroupAndPods()
}

// MayRunElsewhere reports whether the pods of a queue may run in other clusters.
func MayRunElsewhere(queue *schedulingv1beta1.Queue) bool {
	return queue != nil && len(queue.Spec.ExtendClusters) > 0
}

// setForwardingAnnotation sets the forwarding annotation on the job. The PodGroup that is created from the job then
// also has this annotation.
func (b *builder) setForwardingAnnotation() {
	if !MayRunElsewhere(b.in.Queue) || b.job.Annotations[keys.JobForwarding] == "true" {
		return
	}
	if b.job.Annotations == nil {
		b.job.Annotations = map[string]string{}
	}
	b.job.Annotations[keys.JobForwarding] = "true"
	b.appendWrites(ForwardJob{})
}

// waitingForTask is the reason in the status of a pending job if a task is waiting for other tasks.
const waitingForTask = "WaitingForTask"

// explainPending stores the reason why a pending job is waiting in the job's state, unless the job is waiting for the
// scheduler.
func (b *builder) explainPending(status *batchv1alpha1.JobStatus, problem *obstacle) {
	if status.State.Phase != batchv1alpha1.Pending {
		return
	}
	if t := b.in.Trouble; problem == nil && t != nil {
		problem = &obstacle{t.Reason, t.Message}
	}
	if problem == nil && b.in.PodGroup != nil && IsGroupAdmitted(b.in.PodGroup) {
		problem = b.unmetDependency()
	}
	if problem == nil {
		problem = b.refusal
	}
	if problem != nil || status.State.Reason != "" {
		status.State.Reason, status.State.Message = problem.reasonCode(), problem.messageText()
	}
}

// unmetDependency returns an obstacle that names the first task that is waiting for other tasks.
func (b *builder) unmetDependency() *obstacle {
	for task := range b.job.Spec.Tasks {
		t := &b.job.Spec.Tasks[task]
		if t.DependsOn != nil && b.hasMissingPod(task) && !b.dependenciesMet(task) {
			return &obstacle{waitingForTask, fmt.Sprintf("task %s waits until %s is ready", t.Name, strings.Join(t.DependsOn.Name, ", "))}
		}
	}
	return nil
}

func (b *builder) findObstacle() *obstacle {
	if b.in.Queue == nil {
		return &obstacle{string(reason.QueueMissing), fmt.Sprintf("queue %s does not exist", b.job.Spec.Queue)}
	}
	if b.pluginErr != nil {
		return &obstacle{string(batchv1alpha1.PluginError), b.pluginErr.Error()}
	}
	if b.in.PodGroup == nil {
		if name := b.missingClaim(); name != "" {
			return &obstacle{string(batchv1alpha1.PVCError), fmt.Sprintf("pvc %s is not found, the job will be in the Pending state until the PVC is created", name)}
		}
	}
	return nil
}

// listResources stores the list of resources that syncDesiredState creates in the status.
func (b *builder) listResources(status *batchv1alpha1.JobStatus) {
	add := func(key, value string) {
		if status.ControlledResources == nil {
			status.ControlledResources = map[string]string{}
		}
		status.ControlledResources[key] = value
	}
	for _, name := range b.plugins.RecordedNames() {
		add(pluginKey+name, name)
	}
	for _, name := range ClaimNames(b.job) {
		add(claimKey+name, name)
	}
}

// markUnwanted marks the pods that should not exist: pods beyond the replicas, pods of a job that is held before they
// have nodes, live pods of older versions, and pods that were annotated but not deleted before a crash.
func (b *builder) markUnwanted() {
	held := b.isHeldBeforeStart()
	for _, m := range b.census.members {
		if m.place.Task < 0 || m.gone {
			continue
		}
		notNeeded := held || b.isPlaceCancelled(m.place)
		mustEnd := m.marked || m.version < b.job.Status.Version
		m.stopMark = !m.inRange || (m.isLivePod() && notNeeded)
		m.stop = m.stopMark || (m.isLivePod() && mustEnd)
	}
}

// keepFinished unmarks finished pods that were to be stopped, because a finished job keeps them even if its replicas
// were lowered just before it ended. It reports whether there were any such pods.
func (b *builder) keepFinished() (found bool) {
	for _, m := range b.census.members {
		if m.hasFinished() && m.stop {
			m.stop, m.stopMark, found = false, false, true
		}
	}
	return found
}

// syncGroupAndPods updates the PodGroup, the plugins' objects and the pods, in the order of their dependencies.
func (b *builder) syncGroupAndPods() {
	group := b.in.PodGroup
	switch {
	case group != nil && group.DeletionTimestamp != nil:
		return // the deletion triggers the next plan
	case group != nil && !b.groupIsCurrent():
		b.appendWrites(DeleteGroup{Group: group})
		return
	case group == nil:
		b.planVolumes()
		b.ensureObjects()
		b.appendWrites(CreateGroup{Group: newGroup(b.gangForScheduler(), b.in.Priorities, b.mayTaskHavePods)})
		return
	}
	b.ensureObjects()
	if spec, changed := refreshGroupSpec(group, b.gangForScheduler(), b.in.Priorities, b.mayTaskHavePods); changed {
		b.appendWrites(PatchGroup{Group: group, Spec: spec})
	}
	b.recordWaiting(group)
	if !IsGroupAdmitted(group) {
		return // pods are created after the gang is admitted
	}
	needed := b.countNeeded()
	places, more := b.wantedPlaces(needed)
	isLimitedArray := b.array != nil && b.array.limit > 0
	if isLimitedArray && b.isInputOutdated() && len(places) > 0 {
		b.plan.Refresh = true // pods that an earlier process created count toward the limit, too
	}
	if creates := b.createPodsAt(places, needed); creates && more {
		b.requestPlanAfter(morePodsAfter)
	}
}

func (b *builder) ensureObjects() {
	if len(b.plugins.Names()) > 0 {
		b.appendWrites(EnsureObjects{Key: fmt.Sprintf("%d/%d", b.job.Generation, b.job.Status.Version)})
	}
}

// recordWaiting records an event that explains why the gang is not scheduled, using the message of its newest
// condition. It records nothing about missing pods, because they are about to be created.
func (b *builder) recordWaiting(group *schedulingv1beta1.PodGroup) {
	var newest *schedulingv1beta1.PodGroupCondition
	for i := range group.Status.Conditions {
		c := &group.Status.Conditions[i]
		if c.Status == corev1.ConditionTrue && (newest == nil || !c.LastTransitionTime.Before(&newest.LastTransitionTime)) {
			newest = c
		}
	}
	if newest == nil || newest.Reason == schedulingv1beta1.NotEnoughPodsReason || newest.Reason == schedulingv1beta1.NotEnoughPodsOfTaskReason {
		return
	}
	if newest.Type != schedulingv1beta1.PodGroupScheduledType {
		b.appendEvent(corev1.EventTypeWarning, string(batchv1alpha1.PodGroupPending), "PodGroup %s:%s unschedulable, reason: %s", group.Namespace, group.Name, newest.Message)
	}
}
