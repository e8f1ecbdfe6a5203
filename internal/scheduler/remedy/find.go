package remedy

import (
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Find returns the smallest changes with which a waiting gang would start now, or with which a running gang would get
// one more pod. It simulates each change on the session and undoes it. Hints for fewer members come first, then smaller
// pods, other node rules and other limits.
func Find(s *cycle.Cycle, j *framework.Job) []explain.Help {
	if len(j.Promised)+len(j.Reserved)+len(j.Placed) > 0 || len(s.View.Order) == 0 {
		return nil
	}
	defer s.UseHeldResources(j)()
	f := &finder{s: s, j: j, v: j.Verdict}
	defer f.countOwnRequest()()
	switch j.Verdict.Code {
	case reason.Reserved:
		f.tryShorterRun()
		f.tryHigherPriority()
		f.tryFewerMembers()
		f.trySmallerPods()
	case reason.BehindOthers:
		f.tryHigherPriority()
		f.tryOtherQueues()
	case reason.GangDoesNotFit, reason.TooLarge, reason.NotReclaimable, reason.OverDeserved, reason.OverCapability, reason.NotEnqueued,
		reason.OverQuota, reason.Overcommitted:
		f.tryMissingClaims()
		f.tryFewerMembers()
		f.tryFewerBeforeAdmission()
		f.trySmallerPods()
		f.trySmallerBeforeAdmission()
		f.tryOtherNodes()
		f.tryRaisedCapability()
		f.tryOtherQueues()
	case reason.QueueMissing:
		f.tryOtherQueues()
		f.tryOwnQueue(schedulingv1beta1.HelpCreateQueue)
	case reason.QueueClosed:
		f.tryOtherQueues()
		f.tryOwnQueue(schedulingv1beta1.HelpOpenQueue)
	case reason.QueueNotLeaf, reason.QueueInvalid:
		f.tryOtherQueues()
	}
	return f.out[:min(len(f.out), maxHelps)]
}
