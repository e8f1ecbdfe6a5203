package framework

import (
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
)

// IsClusterBound reports whether a change anywhere in the cluster or in the job's namespace could help the job.
func (j *Job) IsClusterBound() bool {
	return reason.Get(j.Verdict.Code).Has(reason.AnyChangeHelps)
}

// IsAccountBound reports whether a limit of the job's account or user holds the job back.
func (j *Job) IsAccountBound() bool { return reason.Get(j.Verdict.Code).Has(reason.LimitOfAccount) }

// NeedsAnything reports whether the gang needs anything: it is not admitted, has tasks without a node, or is below its
// minimum. A completed gang may be below its minimum.
func (j *Job) NeedsAnything() bool {
	switch j.Phase {
	case schedulingv1beta1.PodGroupPending:
		return true
	case schedulingv1beta1.PodGroupCompleted:
		return j.WantsMore() || j.IsGateOpening()
	}
	return j.WantsMore() || j.IsGateOpening() || !j.IsSatisfied()
}

// ClearVerdict clears the reason why the job is waiting.
func (j *Job) ClearVerdict() { j.Verdict = explain.Verdict{} }

// ForceReload makes the next LoadFromGang read the whole gang again.
func (j *Job) ForceReload() { j.seen = 0 }

// DiffersFromGang reports whether the job differs from its gang because of decisions made in this cycle.
func (j *Job) DiffersFromGang() bool {
	return len(j.Placed)+len(j.Promised)+len(j.Released)+j.Evicted > 0 || j.Phase != j.Status.Phase
}

// Park parks the job until something changes that could help it.
func (j *Job) Park(queueVersion uint64) {
	j.Parked = j.Verdict.Code != reason.Reserved || j.Verdict.Full // a reservation may end without a visible change
	j.QueueStamp = queueVersion
	j.ParkedShapes = nil
	if j.IsAdmitted() && j.IsQueueBound() {
		j.ParkedShapes = j.PendingShapes()
	}
}

// IsQueueBound reports whether a change to its queue could help the job. If the job is waiting for its own pods, only
// these can help it, unless they are waiting at the gate of its queue. A gang with multiple shapes can be blocked by
// nodes and by its queue at the same time, so a change to either of them wakes it.
func (j *Job) IsQueueBound() bool {
	return len(j.AtGate) > 0 || (j.Verdict.Code != reason.NotEnoughPods && j.Verdict.Code != reason.SchedulingGated)
}

// IsSizeBound reports whether this job, or another job ahead of it, may be waiting because of the sizes of nodes.
func (j *Job) IsSizeBound() bool { return !j.IsAdmitted() || j.Verdict.IsNeverPossible() }
