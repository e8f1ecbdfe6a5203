package state

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Slurm's words for reasons that follow from the state of a queue, a pod or the nodes. They come from the table of
// reasons.
var (
	partitionDown     = slurmReason(reason.QueueMissing)
	partitionInactive = slurmReason(reason.QueueClosed)
	launchFailure     = slurmReason(reason.StartError)
	resources         = slurmReason(reason.InsufficientResource)
	badConstraints    = slurmReason(reason.NodeSelectorMismatch)
	notAvailable      = slurmReason(reason.NodeNotReady)
)

// slurmReason returns Slurm's word for a reason, or "" if the reason is not in the table.
func slurmReason(code reason.Code) string { return reason.Get(code).Slurm }

// IsHeld reports whether the job does not start because a user or an administrator holds it.
func (s State) IsHeld() bool {
	return s.Reason == slurmReason(reason.JobHeldUser) || s.Reason == slurmReason(reason.JobHeldAdmin)
}

// ended maps final states to the reasons of jobs that did not complete.
var ended = map[Code]reason.Code{
	Failed: reason.PodFailed, Timeout: reason.DeadlineExceeded, OutOfMemory: reason.OOMKilled, NodeFail: reason.NodeStopped,
	BootFail: reason.StartError, Preempted: reason.Preempted,
}

func currentReason(f Facts, code Code) string {
	switch code {
	case Pending, Requeued:
		return waitingReason(f)
	case Configuring:
		if f.Pods != nil && f.Pods.CannotStart {
			return launchFailure
		}
		return slurmReason(reason.Starting)
	case Suspended:
		return slurmReason(reason.Suspended)
	}
	if cause, bad := ended[code]; bad {
		return slurmReason(cause)
	}
	return None
}

// waitingReason returns the reason why a job is waiting. The job's own conditions take precedence over the state of its
// queue, and the state of the queue takes precedence over the scheduler's result.
func waitingReason(f Facts) string {
	if word := gateReason(f); word != "" {
		return word
	}
	if word := queueReason(f); word != "" {
		return word
	}
	if f.Pods != nil && f.Pods.CannotStart {
		return launchFailure
	}
	if f.Group == nil {
		return cmp.Or(slurmReason(reason.Code(f.Job.Status.State.Reason)), slurmReason(reason.NoPodGroup))
	}
	return schedulerReason(f.Group)
}

// gateReason returns the reason if a hold, a begin time or a dependency delays the job, and "" otherwise. If the
// controller has not processed the job yet, gateReason derives the reason from the job's annotations.
func gateReason(f Facts) string {
	if row := reason.Get(reason.Code(f.Job.Status.State.Reason)); row.Has(reason.DelaysJob) {
		return row.Slurm
	}
	if f.Job.Status.State.Phase != "" {
		return ""
	}
	switch held := f.Job.Annotations[keys.Hold]; {
	case held == keys.HoldAdmin:
		return slurmReason(reason.JobHeldAdmin)
	case held != "":
		return slurmReason(reason.JobHeldUser)
	}
	if begin, err := batchv1alpha1.BeginOf(f.Job); err == nil && begin.After(f.Now) {
		return slurmReason(reason.BeginTime)
	}
	if f.Job.Annotations[keys.Dependency] != "" {
		return slurmReason(reason.Dependency)
	}
	return ""
}

// queueReason returns the reason if the state of the queue prevents the job from starting, and "" otherwise.
func queueReason(f Facts) string {
	switch {
	case f.QueueMissing:
		return partitionDown
	case f.Queue == nil:
		return ""
	case f.Queue.Status.State == schedulingv1beta1.QueueStateUnknown:
		return partitionDown
	case !f.Queue.IsOpen():
		return partitionInactive
	}
	return ""
}

// schedulerReason returns the scheduler's reason why a gang is waiting.
func schedulerReason(group *schedulingv1beta1.PodGroup) string {
	e := group.Status.Explanation
	if e == nil || e.Reason == "" {
		for _, c := range group.Status.Conditions {
			if c.Type == schedulingv1beta1.PodGroupUnschedulableType && c.Status == corev1.ConditionTrue {
				return resources
			}
		}
		return None
	}
	entry := reason.Get(reason.Code(e.Reason))
	if entry.Slurm == resources {
		return nodesReason(e)
	}
	if entry.Slurm == "" {
		return resources // the code was written by another version
	}
	return entry.SlurmFor(exceededResource(e))
}

// nodesReason returns the reason why no nodes are suitable. It distinguishes a lack of free resources from nodes that
// would be unsuitable even if all their resources were free, and from nodes that are not available.
func nodesReason(e *schedulingv1beta1.Explanation) string {
	var hopeless, absent int32
	for _, n := range e.Nodes {
		switch code := reason.Code(n.Reason); {
		case slurmReason(code) == notAvailable:
			absent += n.Count
		case slurmReason(code) == badConstraints, code == reason.TooLarge:
			hopeless += n.Count
		}
	}
	ruledOut := e.NodeCount > 0 && hopeless+absent >= e.NodeCount
	switch {
	case ruledOut && absent > 0:
		return notAvailable
	case ruledOut, e.Never:
		return badConstraints
	}
	return resources
}

// exceededResource returns the resource for which a limit of a queue, namespace, account or user is exceeded. If there is
// no such resource, it returns the first resource that is short.
func exceededResource(e *schedulingv1beta1.Explanation) string {
	for _, s := range e.Short {
		switch s.Scope {
		case "queue", "quota", "account", "user":
			return string(s.Resource)
		}
	}
	if len(e.Short) > 0 {
		return string(e.Short[0].Resource)
	}
	return ""
}
