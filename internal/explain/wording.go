package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/reason"
)

// wording holds functions for those texts of a reason that depend on the verdict. They receive the verdict and the
// text in the table of reasons. If a function is nil, the text in the table is used unchanged.
type wording struct {
	// cause describes why the pending pods are waiting.
	cause func(v *Verdict, sentence string) string
	// pod returns the text for the condition of a single pod. It does not contain numbers that change often.
	pod func(v *Verdict, sentence string) string
	// hint describes what the user can do.
	hint func(v *Verdict, hint string) string
	// never describes what the user can do if the whole request exceeds the limit.
	never func(v *Verdict) string
}

// wordings holds the texts with numbers for each reason. Everything else about a reason is in the table of package
// reason.
var wordings = map[reason.Code]wording{
	reason.NotEnoughPods:           {cause: causeOfMissingPods, hint: hintForMissingPods},
	reason.NoHyperNode:             {cause: causeWithTopology},
	reason.SubGroupInvalid:         {cause: causeWithTopology},
	reason.HyperNodeInvalid:        {cause: causeWithHyperNode},
	reason.QueueMissing:            {cause: textWithQueue, pod: textWithQueue},
	reason.QueueClosed:             {cause: textWithQueue, pod: textWithQueue, hint: hintForClosedQueue},
	reason.QueueNotLeaf:            {cause: textWithQueue, pod: textWithQueue},
	reason.QueueInvalid:            {cause: textOfInvalidQueue, pod: textOfInvalidQueue},
	reason.OverCapability:          {cause: causeOfCapability, pod: podTextOfCapability, hint: hintForCapability, never: hintIfOverCapability},
	reason.OverDeserved:            {cause: causeOfShare, pod: podTextOfShare, hint: hintForShare},
	reason.OverQuota:               {cause: causeOfQuota, never: hintIfOverQuota},
	reason.UserJobLimit:            {cause: causeOfJobLimit, pod: causeOfJobLimit, hint: hintForJobLimit, never: hintIfOverAccount},
	reason.UserResourceLimit:       {cause: causeOfAccount, pod: podTextOfAccount, hint: hintForAccount, never: hintIfOverAccount},
	reason.AccountJobLimit:         {cause: causeOfJobLimit, pod: causeOfJobLimit, hint: hintForJobLimit, never: hintIfOverAccount},
	reason.AccountResourceLimit:    {cause: causeOfAccount, pod: podTextOfAccount, hint: hintForAccount, never: hintIfOverAccount},
	reason.AccountBudget:           {cause: causeOfBudget, pod: podTextOfBudget, hint: hintForBudget, never: hintIfOverBudget},
	reason.QOSJobLimit:             {cause: causeOfJobLimit, pod: causeOfJobLimit, hint: hintForQOSJobLimit, never: hintIfOverQOS},
	reason.QOSResourceLimit:        {cause: causeOfAccount, pod: podTextOfAccount, hint: hintForQOS, never: hintIfOverQOS},
	reason.QOSUserJobLimit:         {cause: causeOfJobLimit, pod: causeOfJobLimit, hint: hintForQOSJobLimit, never: hintIfOverQOS},
	reason.QOSUserResourceLimit:    {cause: causeOfAccount, pod: podTextOfAccount, hint: hintForQOS, never: hintIfOverQOS},
	reason.QOSAccountJobLimit:      {cause: causeOfJobLimit, pod: causeOfJobLimit, hint: hintForQOSJobLimit, never: hintIfOverQOS},
	reason.QOSAccountResourceLimit: {cause: causeOfAccount, pod: podTextOfAccount, hint: hintForQOS, never: hintIfOverQOS},
	reason.Overcommitted:           {cause: causeOfOvercommit, never: hintIfOverOvercommit},
	reason.NotEnqueued:             {cause: causeOfNoAdmission},
	reason.NotReclaimable:          {cause: causeOfNoReclaim, pod: podTextOfNoReclaim},
	reason.Reserved:                {cause: causeOfReservation},
	reason.KeptForLost:             {cause: causeOfRecovery},
	reason.SchedulingGated:         {cause: causeOfGates},
	reason.BehindOthers:            {cause: causeOfPosition},
	reason.WaitingForVictims:       {cause: causeWithBlockers},
	reason.PodsLinger:              {cause: causeWithBlockers},
	reason.GangDoesNotFit:          {cause: causeOfNoFit, pod: podTextOfNoFit, hint: hintForGang},
	reason.TooLarge:                {cause: causeOfNoFit, hint: hintForLargePods},
}

// maxGates is the maximum number of scheduling gates to list.
const maxGates = 3

func causeOfMissingPods(v *Verdict, sentence string) string {
	m := v.Members
	switch {
	case v.Role != "":
		return fmt.Sprintf("fewer pods of task %s exist than the gang needs: %d of %d", v.Role, v.RoleMin-v.RoleMissing, v.RoleMin)
	case v.SubGroup != "":
		return fmt.Sprintf("%s: %s", sentence, v.SubGroup)
	}
	return fmt.Sprintf("%s: %d of %d%s", sentence, m.Exist, m.Min, describeEnded(Members{Failed: m.Failed}))
}

func hintForMissingPods(v *Verdict, hint string) string {
	if v.Members.Failed > 0 {
		return "delete and re-create the failed pods (failed pods do not count), or lower minAvailable (minMember of a PodGroup)"
	}
	return hintForNodes(v, hint)
}

func causeWithTopology(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", sentence, v.Topology)
}

func causeWithHyperNode(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s: %s", sentence, v.HyperNode, v.Topology)
}

func textWithQueue(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", sentence, v.Limit.Queue)
}

func textOfInvalidQueue(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: queue %s: %s", sentence, v.Limit.Queue, strings.Join(v.Blocker, ", "))
}

func hintForClosedQueue(v *Verdict, hint string) string {
	return hintForNodes(v, strings.ReplaceAll(hint, "QUEUE", v.Limit.Queue))
}

func podTextOfCapability(v *Verdict, _ string) string {
	return fmt.Sprintf("queue %s would exceed its capability", v.Limit.Queue)
}

func causeOfCapability(v *Verdict, sentence string) string {
	if v.IsNeverPossible() {
		return fmt.Sprintf("the request exceeds the capability of queue %s: %s", v.Limit.Queue, describeBeyond(v.limitAndMore()))
	}
	return fmt.Sprintf("%s: %s", podTextOfCapability(v, sentence), describeGap(v.Limit))
}

func hintForCapability(v *Verdict, hint string) string {
	if v.Limit.Ending > 0 {
		return "wait until the deleted pods have terminated, or raise the capability"
	}
	return hint
}

func hintIfOverCapability(v *Verdict) string {
	return suggestWithinLimits(v, fmt.Sprintf("raise the capability of queue %s, or submit to another queue", v.Limit.Queue))
}

func podTextOfShare(v *Verdict, _ string) string {
	return fmt.Sprintf("queue %s would exceed its share", v.Limit.Queue)
}

func causeOfShare(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s", podTextOfShare(v, sentence), describeShare(v.Limit))
}

func hintForShare(v *Verdict, _ string) string {
	if v.Limit.Held > 0 {
		return "wait until jobs of this queue end or other queues request less, raise this queue's weight, or request less"
	}
	return "wait until other queues request less, raise this queue's weight, or request less"
}

func hintIfOverQuota(v *Verdict) string { return suggestWithinLimits(v, "or raise the ResourceQuota") }

func causeOfOvercommit(v *Verdict, sentence string) string {
	if v.IsNeverPossible() {
		return fmt.Sprintf("the request exceeds the overcommit limit of the cluster: %s", describeBeyond(v.limitAndMore()))
	}
	return fmt.Sprintf("%s: %s", sentence, describeGap(v.Limit))
}

func hintIfOverOvercommit(v *Verdict) string {
	const remedy = "add nodes, or raise overcommit-factor"
	limits := v.limitAndMore()
	if v.Limit.Limit <= 0 && (v.Limit.Kept > 0 || len(limits) == 1) {
		return suggestWithinLimits(v, remedy)
	}
	return fmt.Sprintf("request less (the overcommit limit of the cluster is %s), %s", listAmounts(limits), remedy)
}

func causeOfNoAdmission(v *Verdict, sentence string) string {
	if v.Queue != "" {
		sentence = "the gang is not yet admitted to queue " + v.Queue
	}
	if v.Limit != nil {
		return fmt.Sprintf("%s: %s", sentence, describeGap(v.Limit))
	}
	return sentence
}

func causeOfNoReclaim(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: queue %s (%s)", sentence, strings.Join(v.Blocker, ", "), describeTally(v))
}

func podTextOfNoReclaim(v *Verdict, sentence string) string {
	return causeOfNoReclaim(&Verdict{Code: v.Code, Blocker: v.Blocker}, sentence)
}

func causeOfReservation(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s, from %s", sentence, strings.Join(v.Blocker, ", "), v.Until.UTC().Format(time.RFC3339))
}

func causeOfRecovery(v *Verdict, sentence string) string {
	return fmt.Sprintf("%s: %s, until %s", sentence, strings.Join(v.Blocker, ", "), v.Until.UTC().Format(time.RFC3339))
}

// causeOfGates lists the gates for which pods are waiting. The text does not change while the gates are being removed
// from many pods.
func causeOfGates(v *Verdict, sentence string) string {
	if len(v.Gates) == 0 {
		return sentence
	}
	gates, named := "gate", v.Gates[:min(len(v.Gates), maxGates)]
	names := strings.Join(named, ", ")
	if len(v.Gates) > 1 {
		gates = "gates"
	}
	if more := len(v.Gates) - len(named); more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	if v.Gated == 1 {
		return fmt.Sprintf("1 pod is waiting for the removal of its scheduling %s %s", gates, names)
	}
	return fmt.Sprintf("pods are waiting for the removal of their scheduling %s %s", gates, names)
}

func causeOfPosition(v *Verdict, sentence string) string {
	if len(v.Blocker) == 0 {
		return sentence
	}
	return fmt.Sprintf("%s is ahead of this job in queue %s", strings.Join(v.Blocker, ", "), v.Queue)
}

func causeWithBlockers(v *Verdict, sentence string) string {
	if len(v.Blocker) == 0 {
		return sentence
	}
	return fmt.Sprintf("%s: %s", sentence, strings.Join(v.Blocker, ", "))
}

func causeOfNoFit(v *Verdict, sentence string) string {
	isCluster := v.Limit != nil && v.Limit.Cluster
	switch {
	case isCluster && v.IsNeverPossible() && v.Tally.Looked > 0:
		return fmt.Sprintf("%s, because the cluster is too small: %s; %s", sentence, describeBeyond(v.limitAndMore()), describeFit(v))
	case isCluster && v.IsNeverPossible():
		return fmt.Sprintf("%s, because the cluster is too small: %s", sentence, describeBeyond(v.limitAndMore()))
	case isCluster:
		return fmt.Sprintf("%s, because the cluster is too small: %s", sentence, describeGap(v.Limit))
	case v.Limit != nil && v.Limit.Node:
		return fmt.Sprintf("%s: %s", sentence, compareLargest(v))
	case isSinglePod(v):
		return "the pod does not fit on any node: " + describeScope(v) + describeTally(v)
	}
	return fmt.Sprintf("%s: %s", sentence, describeFit(v))
}

func podTextOfNoFit(v *Verdict, sentence string) string {
	if v.Extra {
		return "no node has enough free resources for this pod; its gang runs without this pod"
	}
	return sentence
}

func hintForGang(v *Verdict, hint string) string {
	switch {
	case v.Limit == nil && v.HyperNode != "":
		return "wait, raise the gang's highestTierAllowed, or request less"
	case isSinglePod(v):
		hint = "lower the requests, or add nodes"
	case v.Extra:
		hint = reason.Get(reason.ExtraPodsWait).Hint
	}
	return hintForNodes(v, hint)
}

func hintForLargePods(v *Verdict, hint string) string {
	if v.Limit != nil && v.Limit.Node {
		return suggestSmaller(v)
	}
	return hintForNodes(v, hint)
}
