package remedy

import (
	"github.com/vc-batch/vc/api/reason"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// trials lists the changes that are simulated, in the order of their hints.
var trials = []struct {
	of  reason.Remedies
	try func(*finder)
}{
	{reason.ShorterRun, (*finder).tryShorterRun},
	{reason.HigherPriority, (*finder).tryHigherPriority},
	{reason.FewerObstacles, (*finder).tryMissingClaims},
	{reason.SmallerGang, (*finder).tryFewerMembers},
	{reason.FewerObstacles, (*finder).tryFewerBeforeAdmission},
	{reason.SmallerGang, (*finder).trySmallerPods},
	{reason.FewerObstacles, (*finder).trySmallerBeforeAdmission},
	{reason.FewerObstacles, (*finder).tryOtherNodes},
	{reason.FewerObstacles, (*finder).tryRaisedCapability},
	{reason.OtherQueue, (*finder).tryOtherQueues},
	{reason.CreateQueue, func(f *finder) { f.tryOwnQueue(schedulingv1beta1.HelpCreateQueue) }},
	{reason.OpenQueue, func(f *finder) { f.tryOwnQueue(schedulingv1beta1.HelpOpenQueue) }},
}

// Find returns the smallest changes with which a waiting gang would start now, or with which a running gang would get
// one more pod. It simulates each change that the table of reasons lists for the gang's reason, and undoes it.
func Find(s *cycle.Cycle, j *framework.Job) []explain.Help {
	if len(j.Promised)+len(j.Reserved)+len(j.Placed) > 0 || len(s.View.Order) == 0 {
		return nil
	}
	remedies := reason.Get(j.Verdict.Code).Remedies
	if remedies == 0 {
		return nil
	}
	defer s.UseHeldResources(j)()
	f := &finder{s: s, j: j, v: j.Verdict}
	defer f.countOwnRequest()()
	for _, trial := range trials {
		if remedies&trial.of != 0 {
			trial.try(f)
		}
	}
	return f.out[:min(len(f.out), maxHelps)]
}
